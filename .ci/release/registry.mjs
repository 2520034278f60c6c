// Makes a registry of npm of packed packages, as files to serve: node registry.mjs FOLDER
// ADDRESS. Beside each package its description is written, under the package's name.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, address] = process.argv.slice(2);
for (const file of readdirSync(folder).filter((f) => f.endsWith(".tgz"))) {
  const at = join(folder, file);
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", at, "package/package.json"], { encoding: "utf8" }));
  const integrity = "sha512-" + createHash("sha512").update(readFileSync(at)).digest("base64");
  writeFileSync(join(folder, manifest.name), JSON.stringify({
    name: manifest.name,
    "dist-tags": { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist: { tarball: `${address}/${file}`, integrity } } },
  }));
}
