#!/usr/bin/env node
// The beginning of the program, in words that every Node with modules understands: the rest would end in a syntax error
// there. The build puts the number in.
var found = process.versions.node;
if (Number(found.split(".")[0]) >= Number("OLDEST_NODE")) {
  import("./program.js");
} else {
  process.stderr.write(
    "error: retinue needs Node OLDEST_NODE or newer, and this is Node " +
      found +
      " (" +
      process.execPath +
      ")\nhint: install a newer Node from https://nodejs.org, or with your version manager, such as: nvm install OLDEST_NODE\n",
  );
  process.exitCode = 52;
}
