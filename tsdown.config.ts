import { defineConfig } from 'tsdown';
import { thirdPartyNotices } from './scripts/third-party-notices.ts';

const shared = { platform: 'node', target: 'node22.14' } as const;

/** It depends on a better-sqlite3 of its own, of an older kind; overrides do not reach those who install squad. */
const SAVER = '@langchain/langgraph-checkpoint-sqlite';

export default defineConfig([
  {
    ...shared,
    entry: { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts' },
    dts: true,
    // What the saver imports stays outside: whoever embeds squad has one graph library, their own.
    deps: { alwaysBundle: [SAVER] },
    // Programs that squad starts as processes of their own; their modules find them beside themselves.
    copy: [
      'src/substrate/process/turn-wrapper.sh',
      'src/substrate/process/turn-init.sh',
      'src/substrate/process/helper-host.mjs',
      'src/substrate/process/run-child.mjs',
      'src/runtimes/scripted/player.mjs',
    ],
  },
  {
    ...shared,
    entry: { cli: 'src/cli/main.ts' },
    dts: false,
    clean: false,
    // Nobody embeds the command line, and to find and link the five hundred modules of the graph library one by one takes
    // longer than everything else before the first agent.
    plugins: [thirdPartyNotices('THIRD-PARTY-LICENSES.txt')],
    deps: { alwaysBundle: [SAVER, /^@langchain\//, 'langsmith', /^langsmith\//, 'zod', /^zod\//] },
  },
  {
    ...shared,
    entry: { mcp: 'src/cli/mcp/main.ts' },
    dts: false,
    clean: false,
    // One file, and a process of it beside every live turn: what it shares with the command line is not worth a second one.
    plugins: [thirdPartyNotices('THIRD-PARTY-LICENSES-mcp.txt')],
    deps: { alwaysBundle: [/^@modelcontextprotocol\//, 'zod', /^zod\//] },
  },
]);
