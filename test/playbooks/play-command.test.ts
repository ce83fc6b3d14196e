import { describe, expect, it } from 'vitest';
import { playCommand, playNote, playOptions, type PlayGiven } from '../../src/playbooks/coordinate/play-command.ts';

describe('the command that plays a new session', () => {
  it.each<[string, PlayGiven, string, string]>([
    ['nothing', {}, '', ''],
    ['a runtime and a name', { runtime: 'codex', name: 'thing' }, ' --runtime codex --name thing', ''],
    ['limits', { limits: { turns: 40, minutes: 1.5, usd: undefined } }, ' --max-turns 40 --max-minutes 1.5', ''],
    ['full access', { allowFullAccess: true }, ' --allow-full-access', ''],
    ['a limit without an option', { limits: { parallel: 2, retries: 1 } }, ' --parallel 2', 'limits.retries'],
    ['a deadline and a priority', { deadline: {}, priority: 'high' }, '', 'deadline, priority'],
  ])('carries %s', (_, given, options, without) => {
    const made = playOptions(given);
    expect(playCommand('/the team', made)).toBe(`squad run --session='/the team'${options}`);
    expect(playNote(made)).toBe(
      without === ''
        ? undefined
        : `The command that plays the session has no option for what the objective says as ${without}. Only --run passes that on.`,
    );
  });
});
