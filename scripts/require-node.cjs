'use strict';
// Run by `pretest`: without the bundled Node 24 every SQLite test dies with exit 139 and prints nothing.
if (Number(process.versions.napi) < 10) {
  console.error(
    'The tests need Node.js 22.14 or newer (found ' +
      process.version +
      ' at ' +
      process.execPath +
      ').\n' +
      'Next: run `npm ci` without --ignore-scripts; it brings Node 24 as a devDependency.',
  );
  process.exit(78);
}
