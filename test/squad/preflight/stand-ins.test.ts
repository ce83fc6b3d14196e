import { expect, it } from 'vitest';
import { standInNotes } from '../../../src/squad/preflight/stand-ins.ts';
import type { BoundAgent } from '../../../src/model/run.ts';

const agent = (name: string, role: string, runtime: string): BoundAgent => ({
  ...{ name, role, runtime, account: runtime, instructions: '' },
  access: { level: 'edit' },
});

const TEAM = [
  agent('planner', 'planner', 'claude'),
  agent('builder-1', 'builder', 'claude'),
  agent('builder-2', 'builder', 'codex'),
  agent('reviewer', 'reviewer', 'codex'),
];

/** What the start says of a team. `broken`: runtimes that cannot be used here. */
async function said(fallbacks: Record<string, string>, agents = TEAM, broken: readonly string[] = []) {
  const entries = Object.entries(fallbacks).map(([name, fallback]) => [name, { env: [], fallback }]);
  const notes = await standInNotes(
    { runtime: () => expect.unreachable(), host: {} as never },
    {
      ...{
        agents,
        runtimes: Object.fromEntries(entries),
        described: { claude: {}, codex: {}, player: { onlyByName: true } },
      },
      probeOf: async (name) => {
        const problems = broken.includes(name) ? [{ text: `${name} was not found`, next: 'install it' }] : [];
        return { ok: problems.length === 0, login: 'ok', sandbox: 'none', problems };
      },
      root: '/',
    },
  );
  return notes.map(({ text }) => text);
}

it.each<[string, Record<string, string>, string[]]>([
  ['no fallback', {}, ['no runtime stands in for planner (claude), reviewer (codex)']],
  ['one of two', { codex: 'claude' }, ['no runtime stands in for planner (claude)']],
  ['both', { codex: 'claude', claude: 'codex' }, []],
])('the roles without a stand-in are named: %s', async (_title, fallbacks, expected) => {
  expect(await said(fallbacks)).toEqual(expected);
});

it('a fallback that cannot be used here is none, and the note says why', async () => {
  expect(await said({ codex: 'gemini', claude: 'codex' }, TEAM, ['gemini'])).toEqual([
    'no runtime stands in for reviewer (codex): gemini cannot be used here: gemini was not found',
  ]);
});

it('a team on one runtime, without a fallback, hears nothing', async () => {
  expect(await said({}, [agent('planner', 'planner', 'claude'), agent('builder', 'builder', 'player')])).toEqual([]);
});
