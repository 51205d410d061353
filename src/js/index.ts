export { default, type InitSource } from "./host.js";
export { OptimError, type ErrorCode } from "./error.js";
export * from "./schedules.js";
export * from "./plateau.js";
export * from "./half.js";
export * from "./options.js";
export { Trainer } from "./optimizer.js";
export * from "./rules.js";
