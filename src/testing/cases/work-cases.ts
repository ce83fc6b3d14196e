import type { TurnEvent } from '../../model/turn-event.ts';
import { insist, readWorkspaceFile, runRefused, runToEnd, type RuntimeCase } from '../runtime-stage.ts';

/** The agent has to answer by it in the scenarios with a structured answer. */
export const VERDICT_SCHEMA = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['approve', 'reject'] }, score: { type: 'integer' } },
  required: ['verdict', 'score'],
  additionalProperties: false,
};

/** Promises about a turn and its answer. */
export const WORK_CASES: readonly RuntimeCase[] = [
  {
    title: 'a turn that answers is completed, with text, session and usage',
    scenario: 'answer',
    check: async (stage) => {
      const end = await runToEnd(stage);
      insist(end.result.text.includes('hello from the agent'), 'the final answer is missing', end.result);
      insist(end.result.session !== undefined, 'there is no session to resume', end.result);
      insist((end.result.usage?.inputTokens ?? 0) > 0, 'the usage of the turn is unknown', end.result);
      insist(end.result.exit?.code === 0, 'the exit status is missing', end.result);
      const announced = end.events.some((event) => event.type === 'session-announced');
      insist(announced, 'no session was announced', end.events);
    },
  },
  {
    title: 'a turn that ends without an answer is not completed',
    scenario: 'empty',
    check: async (stage) => {
      const end = await stage.run(stage.request());
      insist(end.result.outcome === 'failed', 'an empty answer counted as an answer', end.result);
      insist(end.result.failure?.kind === 'bad-output', 'the failure has another type', end.result);
    },
  },
  {
    title: 'the prompt arrives byte for byte, whatever it contains',
    scenario: 'echo',
    check: async (stage) => {
      const marks = `--help -x @file $(id) \`id\` ; && | > < * ? ~ 'single' "double" \\ \u2028 ünï 日本 🙂 %s {} [] #!`;
      const prompt = `review\n${marks}\n${'long '.repeat(40_000)}end-of-prompt`;
      await runToEnd(stage, { prompt });
      insist(stage.bench.received().includes(JSON.stringify(prompt).slice(1, -1)), 'the prompt was changed on its way');
    },
  },
  {
    title: 'a tool is reported from its start to its end',
    scenario: 'tool',
    check: async (stage) => {
      const end = await runToEnd(stage);
      const [started, ended] = tools(end.events);
      insist(started?.kind === 'execute', 'the shell command was not reported as one', end.events);
      insist(ended?.ok === true && (ended.output ?? '').includes('tool-ran'), 'the tool failed', end.events);
      insist(started.id === ended.id, 'start and end do not belong together', end.events);
      insist(end.turn.activity().firstToolAt !== undefined, 'the first tool was not noted');
      insist(end.turn.activity().openTools === 0, 'a tool is still open');
    },
  },
  {
    title: 'a failed tool does not fail the turn',
    scenario: 'failing-tool',
    check: async (stage) => {
      const end = await runToEnd(stage);
      const [, ended] = tools(end.events);
      insist(ended?.ok === false, 'the failed command was reported as successful', end.events);
    },
  },
  {
    title: 'an edit changes the workspace',
    scenario: 'edit',
    check: async (stage) => {
      await runToEnd(stage);
      const made = await readWorkspaceFile(stage.bench, 'made.txt');
      insist(made?.trim() === 'made by the agent', 'the file was not made', made);
    },
  },
  {
    title: 'a commit can be made in the repository of the workspace',
    scenario: 'commit',
    check: async (stage) => {
      const end = await runToEnd(stage);
      const log = await readWorkspaceFile(stage.bench, '.git/logs/HEAD');
      insist(log?.includes('commit: made') === true, 'nothing was committed', end.events);
    },
  },
  {
    title: 'a structured answer is checked by the host',
    scenario: 'structured',
    check: async (stage) => {
      const end = await runToEnd(stage, { outputSchema: VERDICT_SCHEMA });
      const structured = JSON.stringify(end.result.structured);
      insist(structured === '{"verdict":"approve","score":7}', 'the structured answer is missing', end.result);
    },
  },
  {
    title: 'a turn that ignores the schema fails',
    scenario: 'ignored-schema',
    check: async (stage) => {
      const end = await stage.run(stage.request({ outputSchema: VERDICT_SCHEMA }));
      insist(end.result.outcome === 'failed', 'prose counted as a structured answer', end.result);
      insist(end.result.failure?.kind === 'bad-output', 'the failure has another type', end.result);
      insist(end.result.structured === undefined, 'there is a structured answer', end.result);
    },
  },
  {
    title: 'a structured answer that breaks its schema fails the turn',
    scenario: 'wrong-schema',
    check: async (stage) => {
      const end = await stage.run(stage.request({ outputSchema: VERDICT_SCHEMA }));
      insist(end.result.failure?.kind === 'bad-output', 'a wrong answer was accepted', end.result);
      insist(end.result.structured === undefined, 'there is a structured answer', end.result);
    },
  },
  {
    title: 'a turn that ignores an optional schema completes',
    scenario: 'ignored-schema',
    check: async (stage) => {
      const end = await runToEnd(stage, { outputSchema: VERDICT_SCHEMA, outputIsOptional: true });
      insist(end.result.structured === undefined, 'there is a structured answer', end.result);
    },
  },
  {
    title: 'a structured answer that breaks an optional schema is left out',
    scenario: 'wrong-schema',
    check: async (stage) => {
      const end = await runToEnd(stage, { outputSchema: VERDICT_SCHEMA, outputIsOptional: true });
      insist(end.result.structured === undefined, 'there is a structured answer', end.result);
    },
  },
  {
    title: 'a schema that cannot be checked is refused before anything runs',
    scenario: 'answer',
    check: async (stage) => {
      await runRefused(stage, 'outputSchema', { outputSchema: { $ref: '#/nowhere' } });
    },
  },
  {
    title: 'an MCP tool is called without approval',
    scenario: 'mcp',
    check: async (stage) => {
      const { command, args } = stage.bench.mcpServer;
      const transport = { type: 'stdio' as const, command, args: [...args], env: {} };
      const end = await runToEnd(stage, { mcp: [{ name: 'desk', required: true, transport }] });
      insist((await stage.bench.notes()).includes('from the agent'), 'the server was not called', end.events);
      const reported = end.events.some(
        (event) =>
          event.type === 'tool-started' && event.kind === 'mcp' && event.server === 'desk' && event.tool === 'note',
      );
      insist(reported, 'the call was not reported', end.events);
    },
  },
  {
    title: 'a required MCP server that does not start fails the turn',
    scenario: 'mcp-down',
    check: async (stage) => {
      const transport = { type: 'stdio' as const, command: '/nonexistent/server', args: [], env: {} };
      const end = await stage.run(stage.request({ mcp: [{ name: 'desk', required: true, transport }] }));
      insist(end.result.outcome === 'failed', 'a turn without its server completed', end.result);
      insist(end.result.failure?.kind === 'mcp-unavailable', 'the failure has another type', end.result);
    },
  },
];

type ToolStarted = Extract<TurnEvent, { type: 'tool-started' }>;
type ToolEnded = Extract<TurnEvent, { type: 'tool-ended' }>;

function tools(events: readonly TurnEvent[]): [ToolStarted | undefined, ToolEnded | undefined] {
  return [events.find((event) => event.type === 'tool-started'), events.find((event) => event.type === 'tool-ended')];
}
