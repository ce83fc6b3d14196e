#!/usr/bin/env node
'use strict';
// Plain old JavaScript: this file must still run on a Node that cannot run squad, to say so in one sentence. The native
// SQLite module dies with SIGSEGV and prints nothing below Node-API 10, so nothing is loaded before this check.
var fs = require('fs');
var os = require('os');
var path = require('path');

var LONG_RUNNING = ['run', 'resume', 'demo', 'serve'];
// Keep the engine's memory flat over a night: ARCHITECTURE.md, "Small facts".
var MEMORY_FLAGS = ['--max-semi-space-size=2'];
var MEMORY_FLAG_LATER = '--heap-growing-percent=30';
// Everything is loaded and compiled by then.
var LATER_MS = 2000;
// On a disk with fewer bytes left than this, they are a run's.
var KEPT_FREE = 256 * 1024 * 1024;
// A program of its own, which squad itself starts for each turn, past this file.
var MAIL_SERVER = 'mcp';

function main() {
  // Under some masks a person's own folders could not be entered or written by the one who made them.
  var mask = process.umask();
  if (mask & 448) process.umask(mask & 63);
  if (!(Number(process.versions.napi) >= 10)) return useAnotherNode();
  var args = process.argv.slice(2);
  // Asked by scripts and installers: not worth loading the command line.
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    return printVersion(require('../package.json').version);
  }
  var serves = args[0] === MAIL_SERVER && args.indexOf('--help') < 0;
  var entry = path.join(__dirname, '..', 'dist', serves ? 'mcp.mjs' : 'cli.mjs');
  var flags = flagsFor(args);
  if (flags.length > 0 && process.execArgv.indexOf(flags[0]) < 0 && typeof process.execve === 'function') {
    // The same process goes on, so that a signal to this pid reaches the engine itself.
    process.execve(process.execPath, [process.execPath].concat(flags, [__filename], args), process.env);
  }
  keepCompiledCode();
  if (flags.length > 0) setTimeout(saveMemory, LATER_MS).unref();
  import('file://' + encodeURI(entry).replace(/\?/g, '%3F').replace(/#/g, '%23')).catch(function (error) {
    console.error(
      error && error.code === 'ERR_MODULE_NOT_FOUND' ? 'squad is not built here. Next: npm run build' : error,
    );
    process.exitCode = 78;
  });
}

// console.log would say nothing of a disk that is full.
function printVersion(version) {
  try {
    fs.writeSync(1, version + '\n');
  } catch (error) {
    // A reader that had enough.
    if (error.code === 'EPIPE') return;
    console.error('squad: the output could not be written: ' + error.message);
    process.exitCode = 74;
  }
}

function flagsFor(args) {
  return LONG_RUNNING.indexOf(args[0]) >= 0 ? MEMORY_FLAGS : [];
}

// A relative path would be another place in each folder.
function whole(folder) {
  return folder && path.isAbsolute(folder) ? folder : '';
}

// Most commands would spend more time compiling squad's modules than running them. Node runs what it reads back with the
// user's rights, so it is kept in squad's own folder, where no agent can write. Without that folder, or where a disk is
// read-only or nearly full, nothing is kept.
function keepCompiledCode() {
  try {
    var state = whole(process.env.XDG_STATE_HOME);
    // Not os.homedir, which would give back a HOME that is empty or relative.
    if (!state) state = path.join(whole(process.env.HOME) || os.userInfo().homedir, '.local', 'state');
    var folder = path.join(state, 'squad', 'compiled');
    if (!path.isAbsolute(folder)) return;
    var disk = fs.statfsSync(path.dirname(folder));
    if (disk.bavail * disk.bsize < KEPT_FREE) return;
    fs.mkdirSync(folder, { recursive: true, mode: 448 });
    require('module').enableCompileCache(folder);
    // oxlint-disable-next-line no-unused-vars -- an old Node cannot read `catch {`
  } catch (error) {
    // It is only slower.
  }
}

// From the start on, this flag would make V8 refuse the compiled code that Node and squad have kept. What squad keeps is written
// before it, or it would carry the flag.
function saveMemory() {
  var flush = require('module').flushCompileCache;
  if (flush) flush();
  require('v8').setFlagsFromString(MEMORY_FLAG_LATER);
}

function useAnotherNode() {
  // Named by the user; or the one that this checkout brings along.
  var brought = path.join(__dirname, '..', 'node_modules', 'node', 'bin', 'node');
  var other = process.env.SQUAD_NODE || (fs.existsSync(brought) ? brought : undefined);
  if (!other || process.env.SQUAD_NODE_TRIED) return refuse();
  var env = Object.assign({}, process.env, { SQUAD_NODE_TRIED: '1' });
  var child;
  var childProcess = require('child_process');
  // A terminal's Ctrl-C reaches both; squad's own answer to it is the child's. Other signals are meant for it as well.
  // Before the child exists: whoever ends the launcher in between would leave it behind.
  process.on('SIGINT', function () {});
  ['SIGTERM', 'SIGHUP'].forEach(function (signal) {
    process.on(signal, function () {
      if (child) child.kill(signal);
    });
  });
  var args = process.argv.slice(2);
  child = childProcess.spawn(other, flagsFor(args).concat([__filename], args), { stdio: 'inherit', env: env });
  child.on('error', refuse);
  child.on('exit', function (code) {
    process.exitCode = code === null ? 1 : code;
  });
}

function refuse() {
  console.error(
    'squad needs Node.js 22.14 or newer (found ' +
      process.version +
      ' at ' +
      process.execPath +
      ').' +
      ' Install one, or name it: SQUAD_NODE=/path/to/node squad',
  );
  process.exitCode = 78;
}

main();
