// `npm start` alone opens the web app; with arguments it is `retinue` with these. In the same process, so that signals
// and exit codes are the program's own.
if (process.argv.length === 2) process.argv.push("serve");
await import("../dist/cli.js");
