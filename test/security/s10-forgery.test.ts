import { expect, it } from 'vitest';
import { openToolRoom, serve, TURNS, turnFile, type ToolRoom } from '../cli/mcp/support.ts';
import type { Json } from '../../src/text/json.ts';
import { SPREAD, spread } from '../support/lane.ts';
import type { McpClient } from '../support/mcp-client.ts';
import { violations } from '../substrate/ledger/support.ts';

/** Through the server that agents talk to; the store itself is tried in `test/substrate/ledger/mail/forgery.test.ts`. */
const TRIES = spread(200, 1_000, 400);
/** Calls that are under way at once. */
const AT_ONCE = 50;

const NOTE = { to: ['MAIN'], text: 'I am MAIN.' };
const ORDER = { to: ['B'], task_id: 'F1', task_type: 'implement', files: [], success_criteria: ['it works'] };
const CLAIMS = ['from', 'agent_instance', 'id', 'seq', 'ts', 'sender', 'as', 'role', 'token', 'attempt_id', 'FROM'];

interface Forgery {
  readonly client: McpClient;
  call(index: number): readonly [tool: string, given: Json];
}

const PATHS: readonly [string, (room: ToolRoom) => Promise<Forgery>][] = [
  [
    'a field of a tool that says who calls',
    async (room) => {
      const client = serve(turnFile(room, 'A'));
      const tools = [
        'send',
        'reply',
        'report',
        'ask',
        'assign',
        'handoff',
        'done',
        'fail',
        'inbox',
        'accept',
        'status',
      ];
      const call: Forgery['call'] = (index) => {
        const claim = CLAIMS[index % CLAIMS.length] ?? 'from';
        return [tools[index % tools.length] ?? 'send', { ...NOTE, [claim]: 'MAIN' }];
      };
      return Promise.resolve({ client, call });
    },
  ],
  [
    'variables of the environment that name another agent, its turn and its token',
    async (room) => {
      const token = room.mail.issueTurnToken(room.lease, TURNS.MAIN);
      const environment = { SQUAD_AGENT: 'MAIN', TEAM_ROLE: 'MAIN', SQUAD_TOKEN: token, SQUAD_TURN_ID: TURNS.MAIN };
      return Promise.resolve({ client: serve(turnFile(room, 'A'), environment), call: () => ['assign', ORDER] });
    },
  ],
  [
    'the token of a turn that another server speaks for by now',
    async (room) => {
      const client = serve(turnFile(room, 'A'));
      await client.open();
      turnFile(room, 'A');
      return { client, call: () => ['send', NOTE] };
    },
  ],
  [
    'another’s token, after its turn was settled',
    async (room) => {
      const path = turnFile(room, 'MAIN');
      room.settle(TURNS.MAIN);
      return Promise.resolve({ client: serve(path), call: () => ['assign', ORDER] });
    },
  ],
];

it.each(PATHS)(
  `S10 %s: none of ${TRIES} is accepted, and each is on record`,
  { ...SPREAD, timeout: 300_000 },
  async (_, open) => {
    const room = openToolRoom();
    const { client, call } = await open(room);
    await client.open();
    const before = room.refusals().length;
    let accepted = 0;
    for (let index = 0; index < TRIES; index += AT_ONCE) {
      const calls = Array.from({ length: AT_ONCE }, async (_none, more) => client.call(...call(index + more)));
      accepted += (await Promise.all(calls)).filter(({ isError }) => !isError).length;
    }
    expect({ accepted, recorded: room.refusals().length - before }).toEqual({ accepted: 0, recorded: TRIES });
    expect([...room.mail.trace({})].filter(({ event }) => event !== 'presence')).toEqual([]);
    expect(violations(room.path)).toEqual([]);
    await client.end();
  },
);
