// Serves a folder on this machine, for the checks of a release: node serve.mjs FOLDER
// PORTFILE. Names of packages with no end of their own are answers of a registry of npm.
import { createServer } from "node:http";
import { readFile, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";

const [folder, portFile] = process.argv.slice(2);
const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
  readFile(join(folder, path), (error, data) => {
    response.writeHead(error ? 404 : 200);
    response.end(error ? "" : data);
  });
});
server.listen(0, "127.0.0.1", () => writeFileSync(portFile, String(server.address().port)));
