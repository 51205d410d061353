// Where the browser, its driver and the software Vulkan drivers are on this machine.
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const onPath = (name) =>
  process.env.PATH.split(delimiter).map((folder) => join(folder, name)).find((file) => existsSync(file));

const firstOf = (names) => names.map((name) => (name.includes("/") ? existsSync(name) && name : onPath(name))).find(Boolean);

export const chrome = () =>
  process.env.CHROME ??
  firstOf(["chromium", "google-chrome", "chromium-browser", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]);

export const chromedriver = () =>
  process.env.CHROMEDRIVER ?? firstOf(["chromedriver", `${process.env.CHROMEWEBDRIVER ?? ""}/chromedriver`]);

export const vulkanLoader = () =>
  ["/usr/lib", "/usr/lib64", ...(existsSync("/usr/lib") ? readdirSync("/usr/lib").map((folder) => `/usr/lib/${folder}`) : [])]
    .map((folder) => join(folder, "libvulkan.so.1"))
    // Browsers carry a loader of their own, which other programs do not find.
    .find((file) => existsSync(file) && !/chrom/.test(file));

/** Mesa's CPU driver, named after the architecture (`lvp_icd.x86_64.json`). */
export const lavapipe = () =>
  ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"]
    .flatMap((folder) => (existsSync(folder) ? readdirSync(folder).map((file) => join(folder, file)) : []))
    .find((file) => /\/lvp_icd.*\.json$/.test(file));

/** The CPU driver that the browser brings along. */
export function swiftshader() {
  const binary = chrome();
  const folders = ["/usr/lib/chromium", "/opt/google/chrome", "/usr/lib/chromium-browser"];
  if (binary && existsSync(binary)) folders.unshift(dirname(realpathSync(binary)));
  return folders.map((folder) => join(folder, "vk_swiftshader_icd.json")).find((file) => existsSync(file));
}
