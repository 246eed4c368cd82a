import { fileURLToPath } from "node:url";
import { openBrowser } from "../fixtures/chromium.js";

/** Takes the README's pictures of the console of a running node: `node --import tsx test/console/screenshots.ts http://127.0.0.1:4003`. */
const [origin = "http://127.0.0.1:4003"] = process.argv.slice(2);
const browser = await openBrowser();
const pictures = [
  { name: "now", hash: "", width: 1000, height: 640, colorScheme: "light" },
  { name: "delegates", hash: "#/delegates", width: 1000, height: 640, colorScheme: "dark" },
  { name: "phone", hash: "", width: 390, height: 640, colorScheme: "light" },
] as const;
for (const { name, hash, width, height, colorScheme } of pictures) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(`${origin}/api/console${hash}`);
  await page.waitForSelector("table");
  await page.screenshot({ path: fileURLToPath(new URL(`images/${name}.png`, import.meta.url)) });
  await page.close();
}
await browser.close();
