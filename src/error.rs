//! The one error type. Each variant has a stable code and a sentence that names the culprit.

/// Everything that can go wrong in this crate.
///
/// A call that returns an error has changed nothing: parameters, slots and step counters are as they were.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An array is longer or shorter than the tensor it is meant for.
    #[error("{what} of `{name}` has {got} values, expected {expected}")]
    LengthMismatch {
        /// What the array holds, such as `grads`.
        what: &'static str,
        /// The tensor's name.
        name: String,
        /// Values received.
        got: usize,
        /// Values expected.
        expected: usize,
    },
    /// An option is unknown, of the wrong type, out of its range, or contradicts another.
    #[error("{what}")]
    InvalidConfig {
        /// A sentence that names the option and its value.
        what: String,
    },
    /// A name that is not among the tensors the optimizer was made for.
    #[error("no parameter is called `{name}`; there are {known}")]
    UnknownParam {
        /// The name that was given.
        name: String,
        /// The names there are, shortened when there are many.
        known: String,
    },
    /// Neither an array of 32 or 16 bits a value nor a `GPUBuffer` or part of one.
    #[error("{what} of `{name}` must be a Float32Array or a GPUBuffer, got {got}")]
    WrongType {
        /// What the array holds, such as `grads`.
        what: &'static str,
        /// The tensor's name.
        name: String,
        /// The type received.
        got: String,
    },
    /// Bytes that are no checkpoint of this package, or a damaged one.
    #[error("not a readable checkpoint: {what}")]
    InvalidCheckpoint {
        /// A sentence that says what is wrong.
        what: String,
    },
    /// A checkpoint of another run than this one: other tensors, another rule, other options.
    #[error("the checkpoint does not fit: {}", .differences.join("; "))]
    CheckpointMismatch {
        /// Every difference, as a sentence.
        differences: Vec<String>,
    },
    /// Something that this build, device or optimizer cannot do.
    #[error("{what}")]
    Unsupported {
        /// A sentence that says what is lacking.
        what: String,
    },
    /// No adapter or device could be had.
    #[error("WebGPU is not available: {reason}")]
    NoWebGpu {
        /// What the platform said.
        reason: String,
    },
    /// The device is gone; nothing more can run on it.
    #[error("the GPU device was lost: {reason}")]
    DeviceLost {
        /// What the platform said.
        reason: String,
    },
    /// The device reported an error, such as being out of memory.
    #[error("the GPU reported an error: {message}")]
    Gpu {
        /// What the platform said.
        message: String,
    },
}

impl Error {
    /// The stable code, the same in Rust and as `code` on the JavaScript error.
    ///
    /// ```
    /// let error = webgpu_optim::Error::InvalidConfig { what: "lr is NaN".into() };
    /// assert_eq!(error.code(), "INVALID_CONFIG");
    /// assert_eq!(error.to_string(), "lr is NaN");
    /// ```
    pub fn code(&self) -> &'static str {
        match self {
            Self::LengthMismatch { .. } => "LENGTH_MISMATCH",
            Self::InvalidConfig { .. } => "INVALID_CONFIG",
            Self::UnknownParam { .. } => "UNKNOWN_PARAM",
            Self::WrongType { .. } => "WRONG_TYPE",
            Self::InvalidCheckpoint { .. } => "INVALID_CHECKPOINT",
            Self::CheckpointMismatch { .. } => "CHECKPOINT_MISMATCH",
            Self::Unsupported { .. } => "UNSUPPORTED",
            Self::NoWebGpu { .. } => "NO_WEBGPU",
            Self::DeviceLost { .. } => "DEVICE_LOST",
            Self::Gpu { .. } => "GPU",
        }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidConfig { what: what.into() }
    }
}
