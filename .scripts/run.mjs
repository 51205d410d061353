// Runs commands in the project's root: with live output for people, and the text kept for the summary.
import { spawn, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);

export const targetDir = process.env.CARGO_TARGET_DIR ?? join(root, "target");

// Tools of the exact version that this project needs live beside its build, so that the user's own stay as they are.
export const toolsDir = join(targetDir, "tools");

process.env.PATH = [join(toolsDir, "bin"), join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
// The Vulkan loader complains once per process without it.
process.env.XDG_RUNTIME_DIR ||= tmpdir();

/** Output of a short command, or null where it is missing or fails. */
export function capture(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

/** Runs a command with live output; resolves to its exit code and everything it printed. */
export function run(command, args, env = {}) {
  const prefix = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  console.log(`$ ${[...prefix, command, ...args].join(" ")}`);
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...(process.stdout.isTTY && { CARGO_TERM_COLOR: "always" }), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const [from, to] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
      from.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
        to.write(chunk);
      });
    }
    child.on("error", (error) => resolve({ code: 127, text: `${text}\n${error.message}` }));
    child.on("close", (code) => resolve({ code: code ?? 1, text }));
  });
}

/** Like `run`, but an exit code other than 0 throws. */
export async function must(command, args, env) {
  const { code, text } = await run(command, args, env);
  if (code !== 0) throw new Error(`${command} ${args[0] ?? ""} ended with code ${code}${code === 127 ? `: ${text.trim()}` : ""}`);
}

/** True where this file is what Node was started with. */
export const isMain = (url) => process.argv[1] === fileURLToPath(url);
