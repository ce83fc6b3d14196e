import { describe, expect, it } from 'vitest';
import type { SessionRef } from '../../../src/model/session-ref.ts';
import { DEFAULT_TURN_LIMITS, turnRequestSchema, type TurnRequest } from '../../../src/model/turn-request.ts';
import { childEnvironment } from '../../../src/runtimes/shared/child-environment.ts';
import { instructionsHash, requestRefusal, sessionRefusal } from '../../../src/runtimes/shared/session.ts';
import { promptFor } from '../../../src/runtimes/shared/turn-prompt.ts';

const request: TurnRequest = {
  turnId: 't',
  workspace: { path: '/here' },
  prompt: 'Go on.\n',
  instructions: 'rules',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};
const session: SessionRef = {
  runtime: 'codex',
  id: 's',
  home: '/home',
  workspace: '/here',
  instructionsHash: instructionsHash('rules'),
};

describe('instructions', () => {
  it('have a hash that sessions of earlier releases still match', () => {
    expect(instructionsHash('Zwölf\n')).toBe('e753304f0c73a486e21deb53e7363b62');
    expect(instructionsHash('Zwölf')).not.toBe(instructionsHash('Zwölf\n'));
  });

  it.each<[string, TurnRequest, object | undefined]>([
    ['no session', request, undefined],
    ['the session’s own', { ...request, session }, undefined],
    [
      'a session of another runtime',
      { ...request, session: { ...session, runtime: 'claude' } },
      { kind: 'setting-unsupported', setting: 'session', mayHaveActed: false },
    ],
    [
      'other instructions',
      { ...request, session, instructions: 'other rules' },
      { kind: 'instructions-changed', setting: 'instructions', mayHaveActed: false },
    ],
  ])('sessionRefusal: %s', (_, asked, expected) => {
    const refusal = sessionRefusal('codex', asked);
    if (expected === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toMatchObject(expected);
  });
});

describe('equipment that an adapter does not know', () => {
  it.each<[string, Partial<TurnRequest>]>([
    ['skills', { skills: [{ name: 'review', folder: '/skills/review' }] }],
    ['hooks', { hooks: [{ on: 'turn-ended', run: 'true' }] }],
    ['environment', { environment: ['MY_KEY'] }],
    ['home', { home: 'mine' }],
  ])('%s is refused by name, unless the adapter honours it', (setting, equipment) => {
    const asked = { ...request, ...equipment };
    const failure = { kind: 'setting-unsupported', setting, mayHaveActed: false };
    expect(requestRefusal('codex', asked, /x/)).toMatchObject({ type: 'refusal', failure });
    expect(requestRefusal('codex', asked, /x/, ['skills', 'hooks', 'environment', 'home'])).toBeUndefined();
    expect(turnRequestSchema.parse(asked)).toMatchObject(equipment);
  });
});

describe('promptFor', () => {
  it.each([
    ['a first turn', request],
    ['the same folder', { ...request, session }],
  ])('%s gets the prompt as it is', (_, asked) => {
    expect(promptFor(asked)).toBe('Go on.\n');
  });

  it('names the change of folder before the prompt', () => {
    const text = promptFor({ ...request, session: { ...session, workspace: '/before' } });
    expect(text).toMatch(/now \/here .*\/before/);
    expect(text.endsWith('\nGo on.\n')).toBe(true);
  });
});

describe('childEnvironment', () => {
  const host = {
    PATH: '/bin',
    HOME: '/home/me',
    LC_ALL: 'C',
    GH_TOKEN: 'secret',
    AWS_SECRET_ACCESS_KEY: 'secret',
    NODE_OPTIONS: '--require=x',
    LD_PRELOAD: 'x.so',
    BASH_ENV: 'x',
    GIT_DIR: '/elsewhere',
    SQUAD_FAILPOINTS: 'x=kill',
    EMPTY: '',
    ABSENT: undefined,
  };

  it('lets only the base names through', () => {
    expect(childEnvironment(host, [])).toEqual({ PATH: '/bin', HOME: '/home/me', LC_ALL: 'C' });
  });

  it('adds what is named and there, with empty values', () => {
    expect(childEnvironment(host, ['GH_TOKEN', 'EMPTY', 'ABSENT', 'NEVER_SET'])).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      LC_ALL: 'C',
      GH_TOKEN: 'secret',
      EMPTY: '',
    });
  });
});
