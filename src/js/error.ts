/** Stable codes of {@link OptimError}; the message names the culprit and the numbers. */
export type ErrorCode =
  | "LENGTH_MISMATCH"
  | "INVALID_CONFIG"
  | "UNKNOWN_PARAM"
  | "WRONG_TYPE"
  | "INVALID_CHECKPOINT"
  | "CHECKPOINT_MISMATCH"
  | "UNSUPPORTED"
  | "NO_WEBGPU"
  | "DEVICE_LOST"
  | "GPU"
  | "FREED";

/** What every call throws or rejects with. A call that failed has changed nothing. */
export class OptimError extends Error {
  /** What went wrong, stable across versions. */
  readonly code: ErrorCode;

  constructor(message: string, code: ErrorCode) {
    super(message);
    this.name = "OptimError";
    this.code = code;
  }
}
