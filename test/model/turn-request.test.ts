import { describe, expect, it } from 'vitest';
import { DEFAULT_TURN_LIMITS, turnRequestSchema } from '../../src/model/turn-request.ts';

const request = {
  turnId: 'turn-1',
  workspace: { path: '/w' },
  prompt: 'go',
  instructions: '',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};

function accepts(server: { name?: string; tools?: string[] }): boolean {
  const transport = { type: 'stdio', command: '/n', args: [], env: {} };
  return turnRequestSchema.safeParse({ ...request, mcp: [{ name: 'desk', transport, ...server }] }).success;
}

/** Runtimes write names into rules and tool names (`mcp__<server>__<tool>`), so that no name may look like two. */
describe('names of MCP servers and their tools', () => {
  it.each(['desk', 'my-desk', 'my_desk', 'd2'])('server %j is a name', (name) => {
    expect(accepts({ name })).toBe(true);
  });

  it.each(['', '-x', '--config', 'Desk', 'a b', 'a.b', 'a=b', 'desk__note', 'desk_', 'a'.repeat(33), 'desk\n'])(
    'server %j is none',
    (name) => {
      expect(accepts({ name })).toBe(false);
    },
  );

  it.each(['note', 'Note.write', 'a/b', '_x', 'a__b'])('tool %j is a name', (tool) => {
    expect(accepts({ tools: [tool] })).toBe(true);
  });

  it.each(['', 'note,Bash', 'note Bash', 'note(x)', '*', 'a\nb', 'a'.repeat(129)])('tool %j is none', (tool) => {
    expect(accepts({ tools: [tool] })).toBe(false);
  });
});

describe('equipment of an agent', () => {
  const skill = (name: string) => ({ skills: [{ name, folder: '/skills/x' }] });
  const hook = (on: string) => ({ hooks: [{ on, run: 'true' }] });

  it.each<[string, object, boolean]>([
    ['a skill', skill('code-review-2'), true],
    ['a skill that leaves its folder', skill('../x'), false],
    ['a skill with a capital', skill('Review'), false],
    ['a hook', hook('tool-ended'), true],
    ['a hook at another moment', hook('never'), false],
    ['a variable', { environment: ['MY_KEY'] }, true],
    ['a variable with its value', { environment: ['MY_KEY=1'] }, false],
    ['another home', { home: '/home/other' }, false],
  ])('%s', (_name, equipment, isAccepted) => {
    expect(turnRequestSchema.safeParse({ ...request, ...equipment }).success).toBe(isAccepted);
  });
});
