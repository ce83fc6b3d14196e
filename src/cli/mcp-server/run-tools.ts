import type { ServedTools } from '../mcp/wire.ts';
import { LOOK_TOOLS } from './look-tools.ts';
import type { ToolContext } from './run-tool.ts';
import { START_TOOLS } from './start-tools.ts';
import { STEER_TOOLS } from './steer-tools.ts';

const TOOLS = [...START_TOOLS, ...LOOK_TOOLS, ...STEER_TOOLS].map((tool) => ({ listed: tool.list(), tool }));

/** Runs of one repository as tools. `idle`: resolves once no call is open. */
export function createRunTools(context: ToolContext): ServedTools & { idle(): Promise<void> } {
  const through = { ...context.command.host, through: 'squad mcp-server' };
  const inside: ToolContext = { ...context, command: { ...context.command, host: through } };
  const open = new Set<Promise<unknown>>();
  return {
    instructions: instructionsOf(context),
    list: () => TOOLS.map(({ listed }) => listed),
    call: (_, name, given, caller) => {
      const found = TOOLS.find(({ listed }) => listed.name === name);
      if (found === undefined) return undefined;
      const answer = found.tool.call(inside, given, caller);
      open.add(answer);
      const ended = (): void => void open.delete(answer);
      answer.then(ended, ended);
      return answer;
    },
    idle: async () => void (await Promise.allSettled(open)),
  };
}

function instructionsOf({ allowed }: ToolContext): string {
  const people = [
    ...(allowed.has('approve') ? [] : ['approves plans and allows tools to agents (`squad answer`)']),
    ...(allowed.has('merge') ? [] : ['merges (`squad merge`)']),
  ];
  return [
    'squad runs a team of coding agents through one objective in this repository, for minutes or hours: start_run, then run_status ' +
      'with wait_seconds until it is over or asks something, then run_diff.',
    'A question about the work is yours to answer only if you know the answer; else ask the person.',
    ...(people.length === 0 ? [] : [`Only a person ${people.join(', and ')}.`]),
  ].join('\n');
}
