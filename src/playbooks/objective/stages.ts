import { z } from 'zod';
import type { AnswerForm } from '../../model/plan.ts';
import { renderPrompt, type ChangedPrompts, type PromptWithoutFacts } from '../../prompts/render.ts';
import { missingIn } from '../../text/missing-in.ts';
import { answerSchema } from '../shared/tasks.ts';
import type { StageList } from '../stages/stage-list.ts';

/** Each list has one point an entry. */
const summarySchema = z.object({
  summary: z.string().describe('what was asked for and what was built, in at most ten sentences'),
  tryIt: z.array(z.string()).describe('the commands that install, run and test it, one an entry, with what they show'),
  left: z
    .array(z.string())
    .describe(
      'what was asked for and is not there, or is not as asked; empty if nothing. The run does not end as done with an entry here',
    ),
  followUps: z.array(z.string()).describe('what reviewers left for later, and what you would do next'),
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

export type Documents = 'keep' | 'drop';

/** The documents of the stages, below the folder of the squad. */
export const DOCUMENT_PATHS = {
  SETUP: 'setup.md',
  BUSINESS_PROBLEM: 'problem_statement.md',
  SPEC: 'feature_spec.md',
  RESEARCH: 'research.md',
  TEST_STRATEGY: 'test_strategy.md',
  PLAN: 'plan.md',
  TEST: 'test_report.md',
} as const;

/** The thirteen stages: ten with work of their own, and three that review the stage before them. */
export function objectiveStages(
  documents: Documents,
  rounds: number,
  prompts: ChangedPrompts = {},
): StageList['stages'] {
  const text = (name: PromptWithoutFacts): string => renderPrompt(name, {}, prompts);
  const writes = (id: keyof typeof DOCUMENT_PATHS, by: readonly string[], name: PromptWithoutFacts) => {
    const brief = text(name);
    return { id, by, brief, makes: { document: DOCUMENT_PATHS[id], headings: headingsIn(brief) } };
  };
  const plan = writes('PLAN', ['pm', 'builder'], 'objective/plan');
  return [
    writes('SETUP', ['pm'], 'objective/setup'),
    writes('BUSINESS_PROBLEM', ['ba'], 'objective/business-problem'),
    {
      ...writes('SPEC', ['ba', 'writer'], 'objective/spec'),
      all: true,
      review: { id: 'SPEC_REVIEW', by: ['reviewer', 'pm'] },
    },
    writes('RESEARCH', ['builder', 'writer'], 'objective/research'),
    writes('TEST_STRATEGY', ['builder', 'reviewer'], 'objective/test-strategy'),
    {
      ...plan,
      makes: { ...plan.makes, answer: 'tasks' },
      review: { id: 'PLAN_REVIEW', by: ['reviewer', 'pm'] },
    },
    {
      id: 'IMPLEMENTATION',
      by: ['builder'],
      brief: text('objective/implementation'),
      makes: { code: true },
      each: { of: 'PLAN' },
      review: { id: 'IMPLEMENTATION_REVIEW', by: ['reviewer'] },
    },
    writes('TEST', ['builder', 'reviewer'], 'objective/test'),
    {
      id: 'POST_REVIEW',
      by: ['pm', 'reviewer'],
      brief: text('objective/post-review'),
      makes: { answer: 'verdict' },
      judges: { rounds, else: { fix: 'IMPLEMENTATION' } },
    },
    // A commit would make the verdicts of POST_REVIEW void.
    documents === 'keep'
      ? { id: 'COMPLETE', by: ['pm'], brief: text('objective/complete'), makes: { answer: { ...SUMMARY_FORM.schema } } }
      : {
          id: 'COMPLETE',
          by: ['pm'],
          brief: text('objective/drop'),
          makes: { removes: 'documents', answer: { ...SUMMARY_FORM.schema } },
        },
  ];
}

/** The headings that a brief asks its document for, in their order. */
function headingsIn(brief: string): string[] {
  return [...brief.matchAll(/^- `#+ ([^`]+)`/gm)].map(([, heading = '']) => heading);
}
