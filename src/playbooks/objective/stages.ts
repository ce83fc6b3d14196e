import { z } from 'zod';
import type { AnswerForm } from '../../model/plan.ts';
import { answerSchema, missingIn } from '../shared/tasks.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import {
  BUSINESS_PROBLEM,
  documentBrief,
  PLAN,
  PLAN_ANSWER,
  RESEARCH,
  SETUP,
  SPEC,
  TEST,
  TEST_STRATEGY,
  type DocumentText,
} from './documents.ts';

const IMPLEMENTATION = `Build this task of the plan, with its tests:

{item}

- The plan says how your task fits with the others, the specification what it has to do, and the test strategy how it is tested.
- Change only the paths of your task: squad accepts nothing else. If it cannot be done there, ask pm for the path before you change it.
- Keep to names and interfaces that the plan fixes: another builder works against them at the same time.
- Leave the documents as they are. Where one is wrong, do what the objective needs and say so in your answer.
- Before you are done, run the tests of what you changed and the checks of the repository.

The work is good when it meets each acceptance criterion of the task, its tests would fail without it, and nothing that worked
before is broken.`;

const POST_REVIEW = `Judge the merged work of all tasks against the objective. You are the last to look before it is delivered.

The success criteria are:

{criteria}

The constraints are:

{constraints}

- Look at the code itself, not only at what the documents and the test report claim. Run what can be run without changing anything.
- Look above all at what no review of a single task could see: whether the parts fit together, whether something is built twice or
  not at all, and whether a constraint is violated.
- A success criterion is met only if you saw it. Name the file and line that show it.
- Reject only for what must change before delivery. Each finding becomes work for a builder who has not read your reasoning: say what
  is wrong, where, and what would be right.
- If you rejected before, first check whether each of those findings is fixed.`;

const CLOSING = `- \`summary\`: what was asked for and what was built, in at most ten sentences
- \`tryIt\`: the commands that install, run and test it, one an entry, with what they show
- \`left\`: what was asked for and is not there, or is not as asked; an empty list if there is nothing. The run does not end as done
  with an entry here
- \`followUps\`: what reviewers left for later, and what you would do next

Take facts from the documents and the commits. Promise nothing.`;

const SUMMARY = `Close the work: write for the person who wrote the objective and has seen nothing of it yet. Change no file.

${CLOSING}`;

/** Each list has one point an entry. */
const summarySchema = z.object({
  summary: z.string(),
  tryIt: z.array(z.string()),
  left: z.array(z.string()),
  followUps: z.array(z.string()),
});

/** Most points of each list in the reason of the run's end. The answer of COMPLETE has all of them. */
const MOST_POINTS = 10;

/** The answer of COMPLETE: the last words of the run, which is not done while they name something that is missing. */
export const SUMMARY_FORM: AnswerForm = {
  schema: answerSchema(summarySchema),
  read: (_, answer) => {
    const said = summarySchema.safeParse(answer).data;
    if (said === undefined) return {};
    const points = (title: string, texts: readonly string[]): string[] =>
      texts.slice(0, MOST_POINTS).map((text) => `${title}: ${text}`);
    const left = missingIn(said.left);
    const findings = left.slice(0, MOST_POINTS).map((problem) => {
      return { file: null, line: null, problem, suggestion: null };
    });
    return {
      summary: [
        said.summary,
        ...points('Left out', left),
        ...points('Try it', said.tryIt),
        ...points('Follow-up', said.followUps),
      ].join('\n'),
      verdict: { approved: left.length === 0, summary: 'something that was asked for is missing', findings },
    };
  },
};

const DROP = `Close the work: remove the documents of the squad, which were for the squad alone:

{documents}

- Remove the whole folder that they are in with \`git rm -r\`, and commit that. Change nothing else.
- The run keeps a copy of each document, so nothing is lost. Read them before you remove them.

Then write for the person who wrote the objective and has seen nothing of it yet:

${CLOSING}`;

export type Documents = 'keep' | 'drop';

/** The thirteen stages: ten with work of their own, and three that review the stage before them. */
export function objectiveStages(documents: Documents, rounds: number): StageList['stages'] {
  return [
    writes('SETUP', ['pm'], SETUP),
    writes('BUSINESS_PROBLEM', ['ba'], BUSINESS_PROBLEM),
    { ...writes('SPEC', ['ba', 'writer'], SPEC), all: true, review: { id: 'SPEC_REVIEW', by: ['reviewer', 'pm'] } },
    writes('RESEARCH', ['builder', 'writer'], RESEARCH),
    writes('TEST_STRATEGY', ['builder', 'reviewer'], TEST_STRATEGY),
    {
      ...writes('PLAN', ['pm', 'builder'], PLAN),
      brief: `${documentBrief(PLAN)}\n\n${PLAN_ANSWER}`,
      makes: { document: PLAN.path, headings: headingsOf(PLAN), answer: 'tasks' },
      review: { id: 'PLAN_REVIEW', by: ['reviewer', 'pm'] },
    },
    {
      id: 'IMPLEMENTATION',
      by: ['builder'],
      brief: IMPLEMENTATION,
      makes: { code: true },
      each: { of: 'PLAN' },
      review: { id: 'IMPLEMENTATION_REVIEW', by: ['reviewer'] },
    },
    writes('TEST', ['builder', 'reviewer'], TEST),
    {
      id: 'POST_REVIEW',
      by: ['pm', 'reviewer'],
      brief: POST_REVIEW,
      makes: { answer: 'verdict' },
      judges: { rounds, else: { fix: 'IMPLEMENTATION' } },
    },
    // A commit would make the verdicts of POST_REVIEW void.
    documents === 'keep'
      ? { id: 'COMPLETE', by: ['pm'], brief: SUMMARY, makes: { answer: { ...SUMMARY_FORM.schema } } }
      : {
          id: 'COMPLETE',
          by: ['pm'],
          brief: DROP,
          makes: { removes: 'documents', answer: { ...SUMMARY_FORM.schema } },
        },
  ];
}

function writes(id: string, by: readonly string[], document: DocumentText): Stage {
  const makes = { document: document.path, headings: headingsOf(document) };
  return { id, by, brief: documentBrief(document), makes };
}

function headingsOf({ sections }: DocumentText): string[] {
  return sections.map(([heading]) => heading);
}
