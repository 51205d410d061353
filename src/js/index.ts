export { default, type InitSource } from "./host.js";
export { OptimError, type ErrorCode } from "./error.js";
export * from "./schedules.js";
export * from "./plateau.js";
export {
  Trainer,
  type BufferSlice,
  type CommonOptions,
  type GroupOptions,
  type Info,
  type LearningRate,
  type Match,
} from "./optimizer.js";
export * from "./rules.js";
