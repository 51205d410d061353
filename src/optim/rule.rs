//! What an update rule is: its options, the row of scalars that its kernel reads, and its CPU reference.

use super::pace::Pace;
use crate::error::Error;

/// The most slots a rule may have.
pub const MAX_SLOTS: usize = 3;

/// What a rule is told about one tensor when it fills that tensor's row.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// The learning rate in force, after any schedule.
    pub lr: f64,
    /// The tensor's own step, 1 at its first.
    pub t: u64,
    /// Whether an earlier step has written the slots.
    pub seeded: bool,
    /// What gradients are multiplied by, their sign left out: unscaling and clipping by norm.
    pub factor: f64,
    /// The largest magnitude of a gradient value after that; 0 for none.
    pub limit: f64,
}

/// What a kernel may bind; the number is the same in every shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// One row of scalars a tensor.
    Hypers,
    /// The pieces of up to 1,024 values, one a workgroup.
    Tiles,
    /// The larger pieces that a reducing workgroup walks through.
    Blocks,
    /// The parameters of an arena window.
    Params,
    /// The gradients of an arena window.
    Grads,
    /// One slot of an arena window, by its place in [`Rule::SLOTS`].
    Slot(usize),
    /// Sums over blocks, on their way to a norm.
    Partials,
    /// One factor a tensor.
    Trust,
    /// First block and number of blocks of each tensor.
    Spans,
    /// The rows of [`Binding::Hypers`], to be changed.
    Rows,
    /// The norm of each tensor's gradient.
    Norms,
    /// What is known of each tensor to pace it.
    Plans,
    /// Learning rates by step and group.
    Rates,
    /// Steps taken by each tensor.
    Counts,
    /// How the run stands.
    Standing,
    /// What a control asks for.
    Settings,
    /// The newest weight over all, of each tensor.
    Shares,
    /// The weighted mean of gradients in an arena window.
    Means,
    /// What a step adds of the parameters to their averages.
    Share,
    /// The averages of the parameters in an arena window.
    Averages,
    /// The parameters of an arena window before the step.
    Previous,
    /// Norms of updates and parameters over blocks.
    Moves,
    /// What the last steps did.
    Records,
    /// The model's own parameters in 16 bits, where it has some: rounded from [`Binding::Params`] whenever those change.
    Copies,
}

impl Binding {
    /// The `@binding` number.
    pub fn number(self) -> u32 {
        match self {
            Self::Hypers | Self::Rows => 0,
            Self::Tiles | Self::Blocks => 1,
            Self::Params => 2,
            Self::Grads => 3,
            Self::Slot(slot) => 4 + slot as u32,
            Self::Partials => 7,
            Self::Trust => 8,
            Self::Spans => 9,
            Self::Norms => 10,
            Self::Plans => 11,
            Self::Rates => 12,
            Self::Counts => 13,
            Self::Standing => 14,
            Self::Settings => 15,
            Self::Shares => 16,
            Self::Means => 17,
            Self::Share => 18,
            Self::Averages => 19,
            Self::Previous => 20,
            Self::Moves => 21,
            Self::Records => 22,
            Self::Copies => 23,
        }
    }

    /// Whether the kernels only read it.
    pub fn read_only(self) -> bool {
        use Binding::{Blocks, Grads, Hypers, Plans, Rates, Settings, Shares, Spans, Tiles};
        matches!(self, Hypers | Tiles | Blocks | Grads | Spans | Plans | Rates | Settings | Shares)
    }
}

/// What one workgroup of a pass works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// A tile.
    Tiles,
    /// A block.
    Blocks,
    /// A whole tensor.
    Tensors,
    /// Everything: there is one workgroup.
    Once,
}

/// One dispatch of a step.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// The entry point in the rule's shader.
    pub entry: &'static str,
    /// What a workgroup works on.
    pub over: Over,
    /// Exactly the globals that the entry point uses.
    pub uses: &'static [Binding],
}

/// Which of a rule's slots exist, by their place in [`Rule::SLOTS`].
pub type Used = [bool; MAX_SLOTS];

/// The slots of one tensor, by their place in [`Rule::SLOTS`]; empty where a slot is not used.
pub type Slots<'a> = [&'a mut [f32]; MAX_SLOTS];

/// A struct of scalars that a shader declares under the same name with the same members.
pub trait Row: bytemuck::Pod {
    /// Name and offset in bytes of each member; a test compares them with the shader.
    const FIELDS: Fields;
}

/// Name and offset in bytes of each member of a struct.
pub type Fields = &'static [(&'static str, usize)];

/// Declares a [`Row`] of 4-byte members.
macro_rules! row {
    ($(#[$meta:meta])* pub struct $Name:ident { $($field:ident: $Type:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        pub struct $Name { $($field: $Type,)+ }

        impl $crate::optim::rule::Row for $Name {
            const FIELDS: $crate::optim::rule::Fields =
                &[$((stringify!($field), std::mem::offset_of!($Name, $field)),)+];
        }
    };
}
pub(crate) use row;

/// The accessors of the two options that every rule has.
macro_rules! common_options {
    () => {
        fn lr(&self) -> f64 {
            self.lr
        }

        fn lr_mut(&mut self) -> &mut f64 {
            &mut self.lr
        }

        fn maximize(&self) -> bool {
            self.maximize
        }
    };
}
pub(crate) use common_options;

/// An update rule. The implementing type holds the options; its default is the framework's.
pub trait Rule: Clone + Default + PartialEq {
    /// The name in lower case, also the stem of its files.
    const KIND: &'static str;
    /// The name of the JavaScript class.
    const CLASS: &'static str;
    /// Every slot the rule may use, by PyTorch's names.
    const SLOTS: &'static [&'static str];
    /// The row that the kernel reads, scalars prepared in f64 and rounded once.
    type Hyper: Row;

    /// Refuses options out of range, naming the option and its value.
    fn check(&self) -> Result<(), Error>;

    /// The learning rate in the options.
    fn lr(&self) -> f64;

    /// The learning rate in the options, to be replaced.
    fn lr_mut(&mut self) -> &mut f64;

    /// Whether to ascend.
    fn maximize(&self) -> bool;

    /// Decay rates of the first and second moment, for their bias corrections.
    fn betas(&self) -> [f64; 2] {
        [0.0; 2]
    }

    /// Decay of the learning rate with a tensor's own steps.
    fn lr_decay(&self) -> f64 {
        0.0
    }

    /// Which slots these options need.
    fn used(&self) -> Used;

    /// The value that a slot starts with.
    fn initial(&self, _slot: usize) -> f32 {
        0.0
    }

    /// The dispatches of a step when the slots in `used` exist.
    fn passes(used: Used) -> &'static [Pass];

    /// The row for one tensor at one step.
    fn hyper(&self, pace: Pace) -> Self::Hyper;

    /// The CPU reference: one step of one tensor, all slices of one length.
    fn step(hyper: &Self::Hyper, params: &mut [f32], grads: &[f32], slots: Slots<'_>);
}
