// Writes what a program was built of as SPDX 2.3, from the list that Go's linker puts into
// the program itself: node sbom.mjs PROGRAM DOCUMENT. Licences are those of
// docs/licenses.md, which a test compares with go.mod.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const [program, document] = process.argv.slice(2);
const info = JSON.parse(execFileSync("go", ["version", "-m", "-json", program], { encoding: "utf8" }));
const bytes = readFileSync(program);
const sha256 = createHash("sha256").update(bytes).digest("hex");

// A row of docs/licenses.md that is no plain list of SPDX identifiers says more than one
// expression can: then the identifiers at its beginning count.
const licences = new Map();
for (const [, name, licence] of readFileSync(new URL("../../docs/licenses.md", import.meta.url), "utf8").matchAll(/^\| `(\S+)` \| \S+ \| (.+) \|$/gm)) {
  const ids = licence.match(/^[A-Za-z]+-?[\d.]*(-Clause)?(, [A-Za-z]+-?[\d.]*(-Clause)?)*/)[0].split(", ");
  licences.set(name, ids.join(" AND "));
}

const setting = (key) => (info.Settings ?? []).find((s) => s.Key === key)?.Value ?? "";
const id = (name) => "SPDXRef-" + name.replace(/[^A-Za-z0-9.-]/g, "-");
const name = basename(document).replace(/\.spdx\.json$/, "");
const go = { Path: "stdlib", Version: info.GoVersion.replace(/^go/, "") };
const modules = [...(info.Deps ?? []), go].map((m) => ({
  SPDXID: id(`${m.Path}-${m.Version}`),
  name: m.Path,
  versionInfo: m.Version,
  downloadLocation: m === go ? "https://go.dev/dl/" : `https://proxy.golang.org/${m.Path.replace(/[A-Z]/g, (c) => "!" + c.toLowerCase())}/@v/${m.Version}.zip`,
  filesAnalyzed: false,
  licenseConcluded: "NOASSERTION",
  licenseDeclared: m === go ? "BSD-3-Clause" : (licences.get(m.Path) ?? "NOASSERTION"),
  copyrightText: "NOASSERTION",
  externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: `pkg:golang/${m.Path}@${m.Version}` }],
}));
const main = {
  SPDXID: "SPDXRef-anamnesis",
  name: "anamnesis",
  versionInfo: process.env.RELEASE_VERSION,
  downloadLocation: "NOASSERTION",
  filesAnalyzed: false,
  primaryPackagePurpose: "APPLICATION",
  checksums: [{ algorithm: "SHA256", checksumValue: sha256 }],
  licenseConcluded: "Apache-2.0",
  licenseDeclared: "Apache-2.0",
  copyrightText: "NOASSERTION",
  comment: `for ${setting("GOOS")}/${setting("GOARCH")}`,
};
const related = (from, relationshipType, to) => ({ spdxElementId: from, relationshipType, relatedSpdxElement: to });
writeFileSync(document, JSON.stringify({
  spdxVersion: "SPDX-2.3",
  dataLicense: "CC0-1.0",
  SPDXID: "SPDXRef-DOCUMENT",
  name,
  documentNamespace: `urn:anamnesis:sbom:${name}:${sha256}`,
  creationInfo: { created: new Date(process.env.SOURCE_DATE).toISOString().replace(/\.\d+Z$/, "Z"), creators: ["Tool: anamnesis-sbom"] },
  packages: [main, ...modules],
  relationships: [related("SPDXRef-DOCUMENT", "DESCRIBES", main.SPDXID), ...modules.map((m) => related(main.SPDXID, "DEPENDS_ON", m.SPDXID))],
}, null, 1) + "\n");
