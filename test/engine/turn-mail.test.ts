import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTurnMail, mailWords, type TurnMail } from '../../src/engine/turn-mail.ts';
import type { Attempt } from '../../src/model/attempt.ts';
import { turnFileSchema } from '../../src/model/mail/turn-file.ts';
import { createRedactor, REDACTED } from '../../src/model/redaction/redactor.ts';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import { result } from '../substrate/ledger/support.ts';
import { openMailRoom, type MailRoom } from '../substrate/ledger/mail/support.ts';

const REQUEST: TurnRequest = {
  turnId: 'a-1',
  workspace: { path: '/w' },
  prompt: 'go',
  instructions: '',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};

const SECRET = 'c4n4ry-of-the-engine';

interface TurnMailRoom extends MailRoom {
  readonly turnMail: TurnMail;
  readonly warnings: string[];
  readonly folder: string;
  readonly file: string;
  attempt(changes?: Partial<Attempt>): Attempt;
}

/** A turn `a-1` of the member `a`, claimed and not spawned. */
function openTurnMailRoom(): TurnMailRoom {
  const room = openMailRoom();
  room.turn('a-1', 'a');
  const folder = join(room.directory, 'turns', 'a-1');
  mkdirSync(folder, { recursive: true });
  const warnings: string[] = [];
  const turnMail = createTurnMail({
    mailServer: (turnFile) => ({ command: '/node', args: ['server', turnFile] }),
    ledger: room.ledger,
    lease: room.lease,
    directory: room.directory,
    redactor: createRedactor([SECRET]),
    words: mailWords({}),
    clock: { monotonic: () => 0, sleep: () => Promise.resolve() },
    onWarning: (text) => warnings.push(text),
  });
  return {
    ...room,
    turnMail,
    warnings,
    folder,
    file: join(folder, 'mail-turn.json'),
    attempt: (changes = {}) => {
      const known = room.ledger.attempt('a-1');
      if (known === undefined) throw new Error('there is no attempt');
      return { ...known, ...changes };
    },
  };
}

function announced(status: 'connected' | 'failed' | 'unknown'): TurnEvent {
  return { type: 'session-announced', at: 0, id: 's', resumed: false, mcp: [{ name: 'squad', status }] };
}

describe('the mail server of a turn', () => {
  it('is in its request, and fails no turn', () => {
    const { turnMail, attempt, file } = openTurnMailRoom();
    expect(turnMail.wire(attempt(), REQUEST).mcp).toEqual([
      {
        name: 'squad',
        required: false,
        transport: { type: 'stdio', command: '/node', args: ['server', file], env: {} },
      },
    ]);
  });

  it.each([
    ['a check', { kind: 'check' }],
    ['an agent that is no member', { agent: 'stranger' }],
  ] as const)('is not there for %s', async (_, changes) => {
    const { turnMail, attempt, folder, file } = openTurnMailRoom();
    expect(turnMail.wire(attempt(changes), REQUEST)).toEqual(REQUEST);
    await turnMail.beforeSpawn(attempt(changes), folder);
    expect(existsSync(file)).toBe(false);
  });

  it('finds a new secret at each spawn, in a file that is the user’s alone', async () => {
    const { turnMail, attempt, folder, file, mail, directory } = openTurnMailRoom();
    const tokens: string[] = [];
    for (let spawns = 0; spawns < 2; spawns += 1) {
      await turnMail.beforeSpawn(attempt(), folder);
      const read = turnFileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
      expect(read.directory).toBe(directory);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      tokens.push(read.token);
      // The file may outlive its turn, so it says what secrets look like and none of them.
      expect(readFileSync(file, 'utf8')).not.toContain(SECRET);
      expect(createRedactor([], read.secrets).text(`a ${SECRET}.`)).toBe(`a ${REDACTED}.`);
    }
    const [first = '', second = ''] = tokens;
    expect(mail.bearer(first)).toBeUndefined();
    expect(mail.bearer(second)).toMatchObject({ by: 'turn', address: 'A', attemptId: 'a-1' });
  });

  it('is missed aloud where the agent’s program says so, or where nobody took the secret', async () => {
    for (const [status, taken, outcome, warned] of [
      ['failed', false, 'completed', 1],
      ['unknown', false, 'completed', 1],
      ['unknown', false, 'failed', 0],
      ['unknown', true, 'completed', 0],
      ['connected', true, 'completed', 0],
    ] as const) {
      const room = openTurnMailRoom();
      if (!taken) await room.turnMail.beforeSpawn(room.attempt(), room.folder);
      room.turnMail.onEvent('a-1', announced(status));
      room.turnMail.onSettled('a-1', result({ outcome }));
      expect([status, taken, outcome, room.warnings.length]).toEqual([status, taken, outcome, warned]);
      await expect.poll(() => existsSync(room.file)).toBe(false);
    }
  });

  it('that nobody was told of is missed by nobody', async () => {
    const room = openTurnMailRoom();
    await room.turnMail.beforeSpawn(room.attempt(), room.folder);
    room.turnMail.onSettled('a-1', result());
    expect(room.warnings).toEqual([]);
    await expect.poll(() => existsSync(room.file)).toBe(false);
  });
});
