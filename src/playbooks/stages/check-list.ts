import { z } from 'zod';
import { explainIssue, pathText, type Finding } from '../../text/explain-issue.ts';
import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import { quote } from '../../text/problem.ts';
import { answerProblems } from './check-answer.ts';
import { commitProblems, entryProblems, reopenProblems } from './check-entries.ts';
import { referenceProblems } from './check-references.ts';
import { roleProblems } from './check-roles.ts';
import { taskIdOf } from './list-facts.ts';
import { foldedPath } from './folded-path.ts';
import { roughStages, type RoughStage } from './rough-list.ts';
import { MOST_STAGES, stageListSchema } from './stage-schema.ts';

/** The key of `squad.yaml` that has a list. */
const KEY = 'playbook';

const schema = z.object({ [KEY]: stageListSchema });

const EXAMPLES: Readonly<Record<string, string>> = {
  '': 'playbook:\n  stages:\n    - { id: BUILD, by: [builder], brief: "Do what it says. {objective}", makes: code }',
  id: 'id: SPEC_REVIEW',
  title: 'title: Review of the specification',
  by: 'by: [builder, writer]',
  needs: 'needs: [SPEC, RESEARCH]',
  brief: 'brief: |\n  Write what has to be built.\n\n  {objective}\n\n  {criteria}',
  makes: 'makes: { document: spec.md, headings: [Goals, Limits] }',
  commit: '{ id: COMMIT, by: [committer], needs: [BUILD], brief: "Commit what is staged.", makes: { commit: true } }',
  requires: 'requires: [{ only: [src, "*.md"] }, { file: docs/spec.md }]',
  review:
    'review: { id: SPEC_REVIEW, by: [reviewer, pm], quorum: all, rounds: 4 }\n# or, one after the other:\nreview: [{ id: DESIGN, by: [architect], session: { of: GUIDE } }, { id: QA, by: [qa] }]',
  reopens: 'reopens: { code: author, design: { stage: GUIDE }, requirements: block }',
  each: 'each: { of: PLAN }',
  judges: 'makes: { answer: verdict }\njudges: { rounds: 4, else: { fix: BUILD } }',
  session: 'session: { of: SPEC }',
  asks: 'asks: { of: [architect, designer], most: 2 }',
  onFail: 'onFail: skip',
  whenNotConverging: 'whenNotConverging: stop',
};

/**
 * All that is wrong with a list of stages, with places in a file that has it under `playbook`. `staffed`: the roles of the agents;
 * undefined: agents are made for the list. `publishes`: runs may open pull requests; absent: that is checked elsewhere.
 */
export function checkList(list: Json, staffed: readonly string[] | undefined, publishes?: boolean): Finding[] {
  const { stages: written } = asObject(list);
  const many = Array.isArray(written) && written.length > MOST_STAGES;
  if (many) {
    const path = [KEY, 'stages', MOST_STAGES];
    return [
      shown({
        path,
        message: `${KEY}.stages has ${written.length} entries and may have at most ${MOST_STAGES}`,
        atKey: true,
      }),
    ];
  }
  const raw = { [KEY]: list };
  const issues = schema.safeParse(raw).error?.issues ?? [];
  const stages = roughStages(list, [KEY]);
  const said = [
    ...idProblems(stages),
    ...documentProblems(stages),
    ...stages.flatMap((stage) => [
      ...kindProblems(stage),
      ...requirementProblems(stage, publishes),
      ...reviewerProblems(stage),
    ]),
    ...referenceProblems(stages),
    ...entryProblems(stages),
    ...commitProblems(stages),
    ...reopenProblems(stages),
    ...roleProblems(stages, staffed),
  ];
  return [
    ...issues.flatMap((issue) => explainIssue(issue, raw, schema, {})),
    ...said.map(({ path, message }) => ({ path, message: `${pathText(path)}: ${message}` })),
  ].map(shown);
}

function shown(finding: Finding): Finding {
  const key = finding.path.findLast((step) => typeof step === 'string' && Object.hasOwn(EXAMPLES, step) && step !== '');
  return { ...finding, example: EXAMPLES[String(key ?? '')] ?? '' };
}

/** A stage's task has its id in lower case, so two ids may become one. A review is shown beside the stages by its own id. */
function idProblems(stages: readonly RoughStage[]): Finding[] {
  const first = new Map<string, { readonly id: string; readonly where: string }>();
  const named = stages.flatMap(({ at, id, reviews }) => [
    { id, path: [...at, 'id'] },
    ...reviews.map((review) => ({ id: review.id, path: [...review.at, 'id'] })),
  ]);
  return named.flatMap(({ id, path }): Finding[] => {
    if (id === undefined) return [];
    const task = taskIdOf({ id });
    const earlier = first.get(task);
    if (earlier === undefined) {
      first.set(task, { id, where: pathText(path) });
      return [];
    }
    if (earlier.id === id)
      return [{ path, message: `${quote(id)} is ${earlier.where} already; each stage and each review needs its own` }];
    return [
      {
        path,
        message: `${quote(id)} and ${quote(earlier.id)} (${earlier.where}) both become ${quote(task)}; give it another id`,
      },
    ];
  });
}

/** One agent's word on one commit counts once. */
function reviewerProblems({ reviews }: RoughStage): Finding[] {
  return reviews.flatMap(({ at, by }, index) => {
    const before = reviews.slice(0, index);
    return by.flatMap((role, place): Finding[] => {
      const other = before.find((one) => one.by.includes(role));
      if (other === undefined) return [];
      const message = `${quote(role)} reviews this work already in ${quote(other.id ?? '')}; a role reviews once`;
      return [{ path: [...at, 'by', place], message }];
    });
  });
}

/** A document is made by one stage, however its path is written. */
function documentProblems(stages: readonly RoughStage[]): Finding[] {
  const first = new Map<string, { readonly written: string; readonly where: string }>();
  const named = stages.flatMap(({ at, makes: { document, documents } }) => [
    { document, path: [...at, 'makes', 'document'] },
    ...(Array.isArray(documents) ? documents : []).map((one: unknown, index) => ({
      ...{ document: one, path: [...at, 'makes', 'documents', index] },
    })),
  ]);
  return named.flatMap(({ document, path }): Finding[] => {
    if (typeof document !== 'string') return [];
    const plain = foldedPath(document);
    const other = [...first].find(
      ([one]) => one === plain || one.startsWith(`${plain}/`) || plain.startsWith(`${one}/`),
    );
    if (other === undefined) {
      first.set(plain, { written: document, where: pathText(path) });
      return [];
    }
    const [one, { written, where }] = other;
    const message =
      one === plain
        ? `is the document of ${where} already${written === document ? '' : `, which is written ${quote(written)}`}`
        : `cannot be there beside ${quote(written)} (${where}): one is the folder of the other`;
    return [{ path, message: `${quote(document)} ${message}` }];
  });
}

/** Problems of `by` and `requires` for the kind of work that the stage makes. */
function requirementProblems({ at, makes, has, requires }: RoughStage, publishes: boolean | undefined): Finding[] {
  const isDocument = makes['document'] !== undefined || makes['documents'] !== undefined;
  const isWork = isDocument || makes['code'] !== undefined || makes['commit'] !== undefined;
  const isMapping = ['id', 'brief', 'makes'].some(has);
  const isKnown = isWork || KINDS.some((key) => makes[key] !== undefined);
  return [
    ...(!isMapping || has('by') || makes['checks'] !== undefined || makes['approval'] !== undefined
      ? []
      : [{ path: [...at, 'by'], message: 'is missing; say which role works on it' }]),
    ...(has('requires') && isKnown && !isWork
      ? [
          {
            path: [...at, 'requires'],
            message: 'only of a document, code or a commit does the engine check files and commits',
          },
        ]
      : []),
    ...requires.flatMap((keys, index): Finding[] => {
      const path = [...at, 'requires', index];
      if (isDocument && keys.includes('only'))
        return [{ path: [...path, 'only'], message: 'a stage that makes documents changes these alone' }];
      return keys.includes('pr') && publishes === false
        ? [{ path: [...path, 'pr'], message: 'squad opens pull requests only with `publish: { pr: true }`' }]
        : [];
    }),
  ];
}

const KINDS = ['answer', 'checks', 'removes', 'approval'];

const REVIEWED = ['document', 'documents', 'code'];

/** Problems of keys that do not go together in one stage. */
function kindProblems({ at, makes, has }: RoughStage): Finding[] {
  const { answer, approval, checks, document, documents } = makes;
  const say = (key: string, message: string): Finding[] => [{ path: [...at, key], message }];
  const judges = has('judges');
  return [
    ...(answer === 'verdict' && !judges
      ? say('makes', 'a verdict judges the work so far: say with `judges` what follows a rejection')
      : []),
    ...(approval !== undefined && !judges
      ? say('makes', 'a person judges the work so far: say with `judges` what follows a rejection')
      : []),
    ...(judges && answer !== 'verdict' && approval === undefined
      ? say('judges', 'a stage that judges makes `answer: verdict`, or `approval: true`')
      : []),
    ...(has('review') && !judges && REVIEWED.every((key) => makes[key] === undefined) && checks === undefined
      ? say('review', 'only a document or code is reviewed')
      : []),
    ...(judges && has('review') ? say('review', 'a stage that judges is not reviewed') : []),
    ...((document ?? documents) !== undefined && has('each')
      ? say('each', 'all its tasks would write the same document; make `code`')
      : []),
    ...(has('all') && (document === undefined || answer !== undefined)
      ? say('all', 'only on a document without `answer: tasks` do several roles work')
      : []),
    ...(answer === 'tasks' && has('each')
      ? say('each', 'tasks come from one plan, and this stage would make several')
      : []),
    ...(checks === undefined
      ? []
      : ['review', 'each', 'session', 'asks'].flatMap((key) =>
          has(key) ? say(key, 'the engine runs the commands of this stage, so no agent works on it') : [],
        )),
    ...(approval === undefined
      ? []
      : ['by', 'session', 'asks', 'onFail'].flatMap((key) =>
          has(key) ? say(key, 'a person judges here, so no agent works on this stage') : [],
        )),
    ...(isJsonObject(answer) ? answerProblems(answer, [...at, 'makes', 'answer']) : []),
  ];
}
