import { z } from 'zod';
import { atMost } from '../../text/at-most.ts';
import type { AnswerForm } from '../../model/plan.ts';
import { PLAYED } from '../../model/playbook-name.ts';
import type { Json } from '../../text/json.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { stageTask } from '../stages/stage-records.ts';
import { answerSchema } from '../shared/tasks.ts';

/** The name of the form that every worker of a session answers in. */
export const WORKER = 'worker';

const others = (what: string): z.ZodArray<z.ZodString> =>
  z.array(z.string()).describe(`${what}, one short text for each point`);

/** No field is optional, because strict structured output requires all. */
export const workerSchema = z.object({
  summary: z.string().describe('what you did, and what came of it, in a few sentences'),
  artifact: z
    .object({ name: z.string().describe('for its file'), markdown: z.string() })
    .nullable()
    .describe('your result as a document in Markdown; null if there is none. Code does not belong here: commit it'),
  memory: z
    .array(z.object({ key: z.string(), value: z.string() }))
    .describe('facts that later tasks look up. Your value replaces one that is there'),
  learnings: others('what others can use'),
  decisions: others('what you decided, and why'),
  issues: others('what is open or wrong'),
  explorations: z
    .array(
      z.object({
        angle: z.string().describe('from where you looked at the code'),
        keywords: z.array(z.string()),
        findings: z.string(),
      }),
    )
    .describe('what you found when you looked at the code, so that no one looks again'),
  discussion: z
    .array(z.string())
    .describe('the records of a discussion that your task asks for, one for each round of it, in their order'),
});

export type WorkerAnswer = z.infer<typeof workerSchema>;

/** As JSON Schema. */
export const ANSWER = answerSchema(workerSchema);

/** The kinds of wisdom, as the answer and the folder name them. */
export const WISDOM = ['learnings', 'decisions', 'issues'] as const;

const KIB = 1024;
/** Bytes of UTF-8. */
const MOST_OF_TEXT = 64 * KIB;
const MOST_OF_NAME = KIB;
const MOST_OF_ALL = KIB * KIB;
const MOST_ENTRIES = 100;
/** Its author corrects these first. */
const MOST_PROBLEMS = 20;

interface Text {
  readonly at: string;
  readonly text: string;
  /** `name`: an identifier, with a lower limit than `text`, which is prose. */
  readonly is: 'name' | 'text';
  readonly mayBeBlank?: true;
}

/**
 * Problems of a worker's answer beyond its schema, for its author. They quote nothing of the answer, because they reach a prompt and a
 * terminal.
 */
export function workerProblems(answer: Json): string[] {
  const worker = workerSchema.safeParse(answer).data;
  if (worker === undefined) return [];
  const texts = textsOf(worker);
  const all = texts.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0);
  const problems = [
    ...texts.flatMap(textProblems),
    ...listsOf(worker).flatMap(({ at, length }) =>
      length > MOST_ENTRIES
        ? [`\`${at}\` has ${length} entries, and the most is ${MOST_ENTRIES}. Keep the important ones.`]
        : [],
    ),
    ...(all > MOST_OF_ALL
      ? [`The answer has ${all} bytes of text, and the limit is 1 MiB (${MOST_OF_ALL} bytes). Shorten it.`]
      : []),
  ];
  return atMost(problems, MOST_PROBLEMS, (left) => `There are ${left} more problems like these.`);
}

/** A task whose answer counts is noted as done, in the order of their ends. */
export const WORKER_FORM: AnswerForm = {
  schema: ANSWER,
  guide: ({ prompts }) => renderPrompt('session/answer', { most: String(MOST_OF_TEXT / KIB) }, prompts),
  read: (view, answer, task) => {
    const problems = workerProblems(answer);
    if (problems.length > 0) return { problems };
    const place = stageTask(view, task);
    return place === undefined ? {} : { changes: [{ do: 'put', in: PLAYED, id: place.stage, value: { task } }] };
  },
};

function textProblems({ at, text, is, mayBeBlank }: Text): string[] {
  if (mayBeBlank !== true && text.trim() === '') return [`\`${at}\` is empty.`];
  const most = is === 'name' ? MOST_OF_NAME : MOST_OF_TEXT;
  const bytes = Buffer.byteLength(text);
  if (bytes <= most) return [];
  return [`\`${at}\` has ${bytes} bytes, and the limit is ${most / KIB} KiB (${most} bytes). Shorten it.`];
}

function textsOf(answer: WorkerAnswer): Text[] {
  const { summary, artifact, memory, explorations, discussion } = answer;
  return [
    { at: 'summary', text: summary, is: 'text' },
    ...(artifact === null
      ? []
      : [
          { at: 'artifact.name', text: artifact.name, is: 'name' } as const,
          { at: 'artifact.markdown', text: artifact.markdown, is: 'text' } as const,
        ]),
    ...memory.flatMap(({ key, value }, index): Text[] => [
      { at: `memory[${index}].key`, text: key, is: 'name' },
      { at: `memory[${index}].value`, text: value, is: 'text', mayBeBlank: true },
    ]),
    ...WISDOM.flatMap((kind) =>
      answer[kind].map((text, index): Text => ({ at: `${kind}[${index}]`, text, is: 'text', mayBeBlank: true })),
    ),
    ...explorations.flatMap(({ angle, keywords, findings }, index): Text[] => [
      { at: `explorations[${index}].angle`, text: angle, is: 'name' },
      ...keywords.map(
        (text, at): Text => ({
          at: `explorations[${index}].keywords[${at}]`,
          text,
          is: 'name',
          mayBeBlank: true,
        }),
      ),
      { at: `explorations[${index}].findings`, text: findings, is: 'text' },
    ]),
    ...discussion.map((text, index): Text => ({ at: `discussion[${index}]`, text, is: 'text', mayBeBlank: true })),
  ];
}

function listsOf(answer: WorkerAnswer): { at: string; length: number }[] {
  return [
    ...(['memory', ...WISDOM, 'explorations', 'discussion'] as const).map((at) => ({ at, length: answer[at].length })),
    ...answer.explorations.map(({ keywords: { length } }, index) => ({
      at: `explorations[${index}].keywords`,
      length,
    })),
  ];
}
