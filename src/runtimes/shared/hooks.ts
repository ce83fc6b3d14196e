import { join } from 'node:path';
import type { TurnRequest } from '../../model/turn-request.ts';
import { defined } from '../../text/defined.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CliCommand } from './cli-adapter.ts';

type Hook = NonNullable<TurnRequest['hooks']>[number];
type Hooked = Pick<TurnRequest, 'hooks'>;

/** How the last words of a hook begin that has failed. What it was about is the first group. */
export const HOOK_FAILED = /^the hook (turn|tool)-(?:started|ended) failed /;

/** Exit codes by which a program takes an objection, and a failure that changes nothing. */
const OBJECTION = 2;
const REMARK = 1;

/** The file of the turn's directory that holds a hook. */
const fileOf = (index: number): string => `hook-${index}.sh`;

/**
 * Scripts for `sh`, without the variables in `without`. A hook can only object: by its exit code, with its last words on stderr. Its stdout
 * is dropped, because programs take permissions from there. At a turn's end it cannot object: the model would continue.
 */
export function hookFiles({ hooks = [] }: Hooked, without: readonly string[]): CliCommand['files'] {
  return hooks.map(({ on, run }, index) => {
    const lines = [
      ...without.map((name) => `unset -v ${name}`),
      `said=$(/bin/sh -c ${shellWord(run)} 2>&1) && exit 0`,
      `printf 'the hook ${on} failed with exit %s: %s\\n' "$?" "$(printf %s "$said" | tail -c 1500)" >&2`,
      `exit ${on === 'turn-ended' ? REMARK : OBJECTION}`,
    ];
    return { name: fileOf(index), text: `${lines.join('\n')}\n` };
  });
}

/** The hooks in the form of settings that several programs share, by the program's names of events. */
export function hookSettings(
  { hooks = [], limits }: Hooked & Pick<TurnRequest, 'limits'>,
  directory: string,
  events: Readonly<Record<Hook['on'], readonly string[]>>,
): Record<string, unknown[]> {
  const settings: Record<string, unknown[]> = {};
  // The idle watchdog must not end the turn first.
  const timeout = Math.max(1, Math.min(600, Math.floor(limits.idleMs / 2000)));
  for (const [index, { on, tool }] of hooks.entries()) {
    const command = `/bin/sh ${shellWord(join(directory, fileOf(index)))}`;
    const entry = { ...defined({ matcher: tool }), hooks: [{ type: 'command', command, timeout }] };
    for (const event of events[on]) settings[event] = [...(settings[event] ?? []), entry];
  }
  return settings;
}

/** Why a hook would never run; undefined: each can. Programs take the name of a tool for a pattern. */
export function hookProblem({ hooks = [], mcp }: TurnRequest, tools: readonly string[]): string | undefined {
  for (const { on, tool } of hooks) {
    if (tool === undefined) continue;
    if (on === 'turn-started' || on === 'turn-ended') return `a hook for ${on} has no tool`;
    const known = tools.includes(tool) || mcp.some(({ name }) => tool.startsWith(`mcp__${name}__`));
    if (!known || !/^[\w.-]+$/.test(tool)) return `this agent has no tool ${tool}: it has ${tools.join(', ')}`;
  }
  return undefined;
}
