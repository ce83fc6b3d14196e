import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mcpServer } from '../../../src/cli/mcp-server/mcp-server.ts';
import type { CommandContext } from '../../../src/cli/command-context.ts';
import { askingOn, needsPerson } from '../../../src/cli/mcp-server/needs-person.ts';
import { createRunTools } from '../../../src/cli/mcp-server/run-tools.ts';
import type { ToolContext } from '../../../src/cli/mcp-server/run-tool.ts';
import type { Question } from '../../../src/model/plan/board.ts';
import type { PlanEvent } from '../../../src/model/plan/event.ts';
import { createOutput } from '../../../src/cli/output.ts';
import { redactorOf } from '../../../src/model/redaction/redactor.ts';
import { collect } from '../../support/in-process.ts';
import type { EngineRoom } from '../../support/engine.ts';
import { newStateOf } from '../../support/state.ts';
import { testHost } from '../../support/test-host.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';
import { commandRoom } from '../room.ts';
import { ALL } from '../../support/lane.ts';

function contextOf({ root, repository }: EngineRoom, workingDirectory = repository): CommandContext {
  const host = testHost(root, { workingDirectory });
  const output = createOutput(collect().stream, collect().stream, redactorOf(host.environment, []));
  return { host, output, exit: () => undefined, logLevel: () => 'info' };
}

function toolsIn(command: CommandContext, allowed: readonly ('approve' | 'merge')[] = []) {
  const context: ToolContext = { command, allowed: new Set(allowed), limits: {} };
  const tools = createRunTools(context);
  const call = async (name: string, given: unknown = {}) => {
    const {
      isError = false,
      content,
      structuredContent,
    } = (await tools.call(1, name, given, { signal: AbortSignal.timeout(20_000) })) ?? { content: [] };
    return { isError, text: content.map(({ text }) => text).join(''), found: structuredContent };
  };
  return { tools, call };
}

/** A run whose planner asks something about the work. */
function askingRoom() {
  const room = commandRoom();
  const run = new RecordedRun(definition(), newStateOf(room.repository)).allocate();
  const event: PlanEvent = {
    ...{ type: 'mail', seq: 1, at: 1, id: 'm-1', from: 'ada', to: ['MAIN'], kind: 'ask', action: 'clarify' },
    body: { question: 'so?' },
  };
  run.plan([{ entry: 'event', seq: 1, at: 1, event }]).close();
  return { room, run };
}

describe('the tools of squad mcp-server', () => {
  it('have a description, a schema for what they take and give, and hints', () => {
    const list = toolsIn(contextOf(commandRoom())).tools.list();
    expect(
      list.map(({ name, annotations }) => [name, annotations.readOnlyHint === true, annotations.destructiveHint]),
    ).toEqual([
      ['start_run', false, false],
      ['resume_run', false, false],
      ['stop_run', false, true],
      ['run_status', true, false],
      ['list_runs', true, false],
      ['show_plan', true, false],
      ['run_diff', true, false],
      ['answer_question', false, false],
      ['tell_agent', false, false],
      ['merge_run', false, true],
    ]);
    for (const { description, inputSchema, outputSchema } of list) {
      expect(description.length).toBeGreaterThan(20);
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
      expect(JSON.stringify(inputSchema)).not.toMatch(/pattern|"yes"|trust|full.?access|max_|unverified|model/i);
    }
  });

  it('show a run, list it, and name what it asks', async () => {
    const { room } = askingRoom();
    const { call } = toolsIn(contextOf(room));
    expect(await call('run_status', { wait_seconds: null })).toMatchObject({
      isError: false,
      found: { run: 'tidy', over: false, changed: false },
    });
    expect(await call('list_runs')).toMatchObject({
      found: { runs: [{ run: 'tidy', objective: 'Tidy up' }], more: 0 },
    });
    expect(await call('show_plan', { run: 'tidy' })).toMatchObject({ found: { run: 'tidy', question: null } });
  });

  it('refuse in one sentence with the next step, and do nothing', ALL, async () => {
    const { room } = askingRoom();
    writeFileSync(join(room.root, 'secret.md'), '# Objective: a file of someone else\n');
    const { call } = toolsIn(contextOf(room));
    const refusals: [tool: string, given: unknown, said: RegExp][] = [
      [
        'start_run',
        {},
        /^the arguments of start_run are wrong: objective: .*\nNext: Call it again\. It takes: objective, name/,
      ],
      ['start_run', { objective: 'x', yes: true }, /wrong: Unrecognized key: "yes"/],
      ['start_run', { objective: '-' }, /^the objective or the playbook is empty\nNext: /],
      ['start_run', { objective: '../secret.md' }, /^\.\.\/secret\.md is outside of the repository\nNext: /],
      ['start_run', { objective: join(room.root, 'secret.md') }, /is outside of the repository\nNext: /],
      ['start_run', { objective: 'do it', playbook: '../secret.md' }, /secret\.md is outside of the repository/],
      ['start_run', { objective: 'do it', tries: 1 }, /wrong: tries: /],
      [
        'start_run',
        { objective: 'do it', playbook: 'solo', tries: 3 },
        /^only the playbook best-of has tries, and this run has the playbook solo\nNext: /,
      ],
      ['start_run', { objective: 'gone.md' }, /gone\.md:1: file not found/],
      ['run_status', { run: 'tidi' }, /^no run is called tidi; did you mean tidy\?\nNext: /],
      ['run_status', { wait_seconds: 600 }, /wrong: wait_seconds: /],
      ['run_status', 'tidy', /^the arguments of run_status are wrong: /],
      ['answer_question', { answer: ' ' }, /^the answer to mail\/1 is empty/],
      [
        'answer_question',
        { question: 'plan-9', answer: 'approve' },
        /has no open question plan-9\nNext: Open: mail\/1/,
      ],
      ['tell_agent', { agent: 'bert', text: 'use tabs' }, /there is no agent bert/],
      ['run_diff', {}, /^tidy has no work in this repository/],
      ['merge_run', { run: 'tidy' }, /^this server may not merge\nNext: A person does: `squad merge tidy`/],
    ];
    for (const [tool, given, said] of refusals) {
      expect.soft(await call(tool, given), tool).toEqual({
        isError: true,
        text: expect.stringMatching(said),
        found: undefined,
      });
    }
    expect(toolsIn(contextOf(room)).tools.call(1, 'rm_run', {}, { signal: AbortSignal.abort() })).toBeUndefined();
    expect(await toolsIn(contextOf(room), ['merge']).call('merge_run')).toMatchObject({
      isError: true,
      text: expect.not.stringContaining('may not'),
    });
    expect(await toolsIn(contextOf(room, room.root)).call('list_runs')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/\nNext: /),
    });
  });

  it('are not served inside of a turn', async () => {
    const context = contextOf(commandRoom());
    const environment = { ...context.host.environment, SQUAD_TURN_ID: 'turn-1' };
    await expect(mcpServer({ ...context, host: { ...context.host, environment } }, {})).rejects.toThrow(
      /an agent of a run cannot steer runs/,
    );
  });
});

describe('a person alone', () => {
  it.each([
    ['permission', 'yes', true],
    ['permission', ' No ', false],
    ['plan', 'Approve', true],
    ['plan', '{"tasks": []}', true],
    ['plan', '{broken', true],
    ['plan', 'stop', false],
    ['plan', 'also write a test', false],
    ['squad', 'continue', true],
    ['squad', 'give up', true],
    ['agent', 'yes', false],
  ] as const)('%s: %j is a decision: %s', (asks, answer, is) => {
    expect(needsPerson({ asks }, answer)).toBe(is);
  });

  it.each([
    ['mail', 'agent'],
    ['engine', 'squad'],
    ['playbook', 'squad'],
  ] as const)('knows who asks: %s', (by, asks) => {
    const question = { id: 'q', text: 'so?', options: [], by, blocks: 'run', answer: null } as unknown as Question;
    const board = { questions: new Map([['q', question]]), records: new Map() };
    expect([askingOn(board, 'q'), askingOn(board, 'other')]).toEqual([{ asks }, undefined]);
  });
});
