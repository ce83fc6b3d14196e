import { readdirSync } from 'node:fs';
import { defineConfig } from 'tsdown';
import { asciiOnly } from './scripts/ascii-only.ts';
import { lazyBuiltins } from './scripts/lazy-builtins.ts';
import { lazySchemas } from './scripts/lazy-schemas.ts';
import { thirdPartyNotices } from './scripts/third-party-notices.ts';

const shared = { platform: 'node', target: 'node22.14' } as const;

/** It depends on a better-sqlite3 of its own, of an older kind; overrides do not reach those who install squad. */
const SAVER = '@langchain/langgraph-checkpoint-sqlite';

const SOURCES = readdirSync(new URL('src', import.meta.url), { recursive: true, encoding: 'utf8' });

/**
 * Parts of the command line by what needs them: every command; one that looks at a run; one that may start a turn; one that checks
 * a new run; one that drives it; a channel that people have set up. Each also holds what its modules import and no part above holds. To
 * find and link modules takes longer than to run them.
 */
const PARTS = Object.entries({
  base: [
    'cli/(?:output|run-program|short-command)',
    'squad/machine',
    'model/redaction/redactor',
    'substrate/system/failpoint',
  ],
  ledger: [
    ...[
      'engine/machine',
      'squad/open-run',
      'view/[^/]+',
      'view/report/[^/]+',
      'engine/attempts/redact-turn',
      'engine/attempts/turn-secrets',
      'substrate/system/clock/ids',
      'text/tool-target',
      'text/byte-count',
      'substrate/ledger/checkpoint-file',
      'model/pull-request-text',
    ],
    ...[
      'engine/sinks/(?:run-files|folder-sink|project-files)',
      'substrate/git/show-diff',
      'substrate/git/place-of-work',
    ],
  ],
  schedules: [
    ...['squad/preflight/(?:consent|read-schedules|schedule-items)', 'substrate/git/repository'],
    ...['model/sprint/settings', 'text/zoned-time'],
  ],
  team: ['model/sprint/team', 'model/people/kinds'],
  channels: ['squad/people/(?:host-channels|agreed-channels)', 'squad/preflight/read-channels'],
  discord: ['substrate/channels/discord/index', 'squad/people/open-discord'],
  runtimes: ['engine/compose'],
  checks: ['squad/new-run', 'substrate/git/git-workspaces', 'substrate/git/run-changes'],
  engine: ['engine/engine'],
}).map(([name, modules]) => {
  // A module that has moved would land unseen in a part that more commands load.
  const gone = modules.filter((one) => !SOURCES.some((file) => new RegExp(`^${one}\\.ts$`).test(file)));
  if (gone.length > 0) throw new Error(`tsdown.config.ts names modules that src does not have: ${gone.join(', ')}`);
  return { name, test: new RegExp(`/src/(?:${modules.join('|')})\\.ts$`) };
});

export default defineConfig([
  {
    ...shared,
    entry: {
      index: 'src/exports/index.ts',
      langgraph: 'src/exports/langgraph.ts',
      runtime: 'src/exports/runtime.ts',
      playbook: 'src/exports/playbook.ts',
      studio: 'src/exports/studio.ts',
      'testing/index': 'src/testing/index.ts',
    },
    dts: true,
    // What the saver imports stays outside: whoever embeds squad has one graph library, their own.
    deps: { alwaysBundle: [SAVER] },
    // Programs that squad starts as processes of their own; their modules find them beside themselves.
    copy: [
      'src/substrate/system/process/turn-wrapper.sh',
      'src/substrate/system/process/turn-init.sh',
      'src/substrate/system/process/start-apart.sh',
      'src/substrate/system/process/helper-host.mjs',
      'src/substrate/system/process/run-child.mjs',
      'src/runtimes/scripted/player.mjs',
      'src/runtimes/in-process/stand-in.mjs',
      // Served as they are.
      'src/cli/web/web-page.js',
      'src/cli/web/web-page.css',
    ],
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts' },
    dts: false,
    clean: false,
    // Nobody embeds the command line, and to find and link six hundred modules one by one takes longer than everything else
    // before the first agent.
    plugins: [lazySchemas(), lazyBuiltins(), asciiOnly(), thirdPartyNotices('THIRD-PARTY-LICENSES.txt')],
    // Its other build loads its parts in a way that is not seen here.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    deps: {
      alwaysBundle: [
        ...[SAVER, /^@langchain\/(?!langgraph-api)/, 'langsmith', /^langsmith\//],
        ...[/^@modelcontextprotocol\//, 'zod', /^zod\//, 'commander', 'yaml', /^jsonc-parser/, 'markdown-it', 'execa'],
      ],
    },
    outputOptions: {
      comments: { annotation: false, jsdoc: false },
      // Without a hash: Node's cache of compiled code replaces what it has under the same path.
      chunkFileNames: 'cli-[name].mjs',
      codeSplitting: { groups: PARTS },
    },
  },
  {
    ...shared,
    entry: { mcp: 'src/cli/mcp/main.ts' },
    dts: false,
    clean: false,
    // One file, and a process of it beside every live turn: what it shares with the command line is not worth a second one.
    plugins: [lazyBuiltins(), asciiOnly(), thirdPartyNotices('THIRD-PARTY-LICENSES-mcp.txt')],
    outputOptions: { comments: { annotation: false, jsdoc: false }, chunkFileNames: 'mcp-[name].mjs' },
    deps: { alwaysBundle: [/^@modelcontextprotocol\//, 'zod', /^zod\//] },
  },
  {
    ...shared,
    entry: { 'acp-host': 'src/runtimes/acp/host/main.ts' },
    dts: false,
    clean: false,
    // One file, and a process of it for every turn of an ACP agent. zod waits in it until an answer is to be checked.
    plugins: [thirdPartyNotices('THIRD-PARTY-LICENSES-acp-host.txt')],
    deps: { alwaysBundle: ['zod', /^zod\//] },
    outputOptions: { codeSplitting: false },
  },
]);
