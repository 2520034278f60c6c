// A PGlite with pgvector behind a socket. The first argument is the folder of the
// packages. It prints its port, and ends when its input does.
const { createRequire } = require('node:module')
const { join } = require('node:path')
const load = createRequire(join(process.argv[1], 'from.js'))
const { PGlite } = load('@electric-sql/pglite')
const { PGLiteSocketServer } = load('@electric-sql/pglite-socket')
const { vector } = load('@electric-sql/pglite-pgvector')

PGlite.create({ extensions: { vector } }).then(async (db) => {
	const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: Number(process.argv[2]), maxConnections: 64 })
	await server.start()
	console.log('ready')
	process.stdin.on('end', () => process.exit(0))
	process.stdin.resume()
})
