import type { CastMember, CastSource, Playbook, View, WorkspaceRecord } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import type { Reading } from '../../model/people/message.ts';
import { readingAnswerSchema } from '../../model/people/reading-answer.ts';
import { readingOptionsSchema, type ReadingOptions } from '../../model/people/reading-options.ts';
import { READ_MESSAGES } from '../../model/playbook-name.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import { plainJson, type Json } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { answerSchema } from '../shared/tasks.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageForm } from '../stages/stage-options.ts';
import type { StageList } from '../stages/stage-list.ts';
import { readIntents } from './read-intents.ts';

const READINGS = 'message-readings';
const MOST_PROBLEMS = 20;

/** The orchestrator reads messages of one person. The run has no branch: it leaves records. */
export function createReadingPlaybook(options: ReadingOptions): Playbook<unknown> {
  const listOf = (prompts?: ChangedPrompts): StageList => {
    // Braces are placeholders of a list.
    const brief = briefOf(options, prompts).replaceAll('{', '{{');
    return {
      stages: [
        { id: 'READ_MESSAGES', title: 'Read messages', by: ['orchestrator'], brief, makes: { answer: 'readings' } },
      ],
    };
  };
  const list: Playbook<unknown> = createStagesPlaybook({
    name: READ_MESSAGES,
    list: listOf(),
    listFor: ({ prompts }) => listOf(prompts),
    keeps: { ...options },
    roles: { orchestrator: { delivers: 'none', prompt: 'orchestrator/role' } },
    cast: readingCast,
    castsEachRole: true,
    answers: { readings: readingsForm(options) },
    tools: () => [],
    hasNoMail: true,
  });
  return { ...list, records: recordsOf };
}

/** The messages that a run is frozen with; undefined: these are no options of such a run. */
export function frozenReading(options: Json): ReadingOptions | undefined {
  return readingOptionsSchema.safeParse(options).data;
}

function readingCast({ runtimes: [first = ''] }: CastSource): CastMember[] {
  return [{ name: 'orchestrator', role: 'orchestrator', runtime: first, access: 'read-only' }];
}

function briefOf({ messages, requests, runs, actions, sprint }: ReadingOptions, prompts?: ChangedPrompts): string {
  const texts = messages.map(({ id, text, files, verbs }) => {
    const attached =
      files.length === 0 ? '' : `\n\nWith files: ${files.map((name) => plainLine(name, 120)).join(', ')}`;
    return `## ${id}, which may be: ${verbs.join(', ')}\n\n${text.trim()}${attached}`;
  });
  const known = [
    sprint === null ? 'No sprint is active.' : `Active sprint: ${plainLine(sprint, 60)}`,
    ...requests.map(({ id, text }) => `Request ${id}: ${plainLine(text, 200)}`),
    ...runs.map(({ name, asks }) => `Run ${name} asks: ${plainLine(asks.join(' | '), 500)}`),
    ...actions.map(({ name, says }) => `Action ${name}: ${plainLine(says, 200)}`),
  ];
  return renderPrompt('orchestrator/messages', { texts: texts.join('\n\n'), known: known.join('\n') }, prompts);
}

function readingsForm(options: ReadingOptions): StageForm {
  return {
    schema: answerSchema(readingAnswerSchema),
    repairs: 1,
    refusal: 'This answer cannot be used:',
    read: (view, answer) => {
      if (answer === null) return {};
      const wrong = answerProblems(readingAnswerSchema, answer);
      if (wrong.length > 0) return { problems: few(wrong) };
      const { intents, problems } = readIntents(options, readingAnswerSchema.parse(answer));
      if (problems.length > 0) return { problems: few(problems) };
      const summary = [...intents].map(([id, { verb }]) => `${id}: ${verb}`).join(', ');
      return { summary, changes: putReadings(options, intents, view.now) };
    },
  };
}

function few(problems: readonly string[]): string[] {
  return atMost([...problems], MOST_PROBLEMS, (left) => `and ${left} more problems`);
}

function putReadings(
  { messages }: ReadingOptions,
  intents: ReadonlyMap<string, Reading['intent']>,
  at: number,
): PlanChange[] {
  return messages.flatMap(({ id, message }): PlanChange[] => {
    const intent = intents.get(id);
    return intent === undefined ? [] : [{ do: 'put', in: READINGS, id: message, value: plainJson({ intent, at }) }];
  });
}

function recordsOf(view: View): WorkspaceRecord[] {
  return view.records(READINGS).map(({ id, value }) => ({ kind: PEOPLE_KINDS.reading, id, value }));
}
