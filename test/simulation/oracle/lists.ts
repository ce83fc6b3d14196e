import { checkList } from '../../../src/playbooks/stages/check-list.ts';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { plainJson } from '../../../src/text/json.ts';
import { draw, drawOf } from '../world/draw.ts';

/** Who works on the list of this seed; `commits` is false where another one commits what a builder leaves. */
export function listRoles(seed: number): readonly { readonly role: string; readonly commits: boolean }[] {
  const commits = (role: string) => ({ role, commits: true });
  const isHandedOver = isChained(seed) && has(seed, 'commit');
  return [
    commits('writer'),
    { role: 'builder', commits: !isHandedOver || has(seed, 'builder commits', 0.2) },
    commits('reviewer'),
    ...(isHandedOver ? [commits('committer')] : []),
  ];
}

function has(seed: number, name: string, share = 0.5): boolean {
  return draw(seed, 'list', name) < share;
}

/** A stage of it plans the tasks that are built. */
export function isPlanned(seed: number): boolean {
  return has(seed, 'plan');
}

/** Stages follow each other entry by entry. */
function isChained(seed: number): boolean {
  return isPlanned(seed) && has(seed, 'chain', 0.7);
}

/** A list as a person might write one: documents, answers, a plan, code, commands and a judge, in the order that this seed wants. */
export function generatedList(seed: number, commands: readonly string[]): StageList {
  const skips = (name: string): Pick<Stage, 'onFail'> => (has(seed, `skip ${name}`, 0.4) ? { onFail: 'skip' } : {});
  const review = (id: string): Pick<Stage, 'review'> =>
    has(seed, `review ${id}`) ? { review: { id: `${id}_REVIEW`, by: ['reviewer'], rounds: 3 } } : {};
  const planned = isPlanned(seed);
  const stages: Stage[] = [
    ...(has(seed, 'notes')
      ? [{ ...stage('NOTES', 'writer', { document: 'notes.md', headings: ['Goals', 'Limits'] }), ...skips('NOTES') }]
      : []),
    ...(has(seed, 'look', 0.3) ? [{ ...stage('LOOK', 'writer', { answer: NOTE }), ...skips('LOOK') }] : []),
    ...(planned ? [stage('PLAN', 'writer', { answer: 'tasks' })] : []),
    ...(isChained(seed)
      ? chainOf(seed, review('BUILD'))
      : [
          {
            ...stage('BUILD', 'builder', { code: true }),
            ...(planned ? { each: { of: 'PLAN' } } : {}),
            ...review('BUILD'),
          },
        ]),
    ...(has(seed, 'check', 0.4)
      ? [
          {
            ...stage('CHECK', 'builder', { checks: has(seed, 'own checks') ? [...commands] : 'criteria' }),
            ...skips('CHECK'),
          },
        ]
      : []),
    ...(has(seed, 'report')
      ? [{ ...stage('REPORT', 'writer', { document: 'report.md', headings: ['Failures'] }), ...review('REPORT') }]
      : []),
    ...(has(seed, 'judge')
      ? [{ ...stage('JUDGE', 'reviewer', { answer: 'verdict' }), judges: { rounds: 3, else: elseOf(seed, planned) } }]
      : []),
    ...(has(seed, 'close', 0.3) ? [{ ...stage('CLOSE', 'writer', { document: 'close.md' }), ...skips('CLOSE') }] : []),
  ];
  const list: StageList = { stages };
  const problems = checkList(
    plainJson(list),
    listRoles(seed).map(({ role }) => role),
  );
  if (problems.length > 0) throw new Error(`the oracle made a wrong list: ${JSON.stringify(problems)}`);
  return list;
}

/** For each task of the plan: a look at it, code by a role that the plan may choose, its commit, and a verdict on it alone. */
function chainOf(seed: number, review: Pick<Stage, 'review'>): Stage[] {
  const looks = has(seed, 'guide', 0.4);
  const commits = has(seed, 'commit');
  const by = has(seed, 'choice', 0.4) ? ['builder', 'writer'] : ['builder'];
  const guide = { each: { of: 'PLAN' }, brief: 'How is {item:title} built?' };
  const build = { each: { of: looks ? 'GUIDE' : 'PLAN' }, brief: `{item} ${looks ? '{of:GUIDE}' : ''}`, by };
  const judges = { rounds: 3, else: { redo: looks && has(seed, 'redo guide', 0.3) ? 'GUIDE' : 'BUILD' } };
  return [
    ...(looks ? [{ ...stage('GUIDE', 'writer', { answer: NOTE }), ...guide }] : []),
    { ...stage('BUILD', 'builder', { code: true }), ...build, ...review },
    ...(commits ? [{ ...stage('COMMIT', 'committer', { commit: true }), each: { of: 'BUILD' } }] : []),
    ...(has(seed, 'test', 0.7)
      ? [
          {
            ...stage('TEST', 'reviewer', { answer: 'verdict' }),
            ...{ each: { of: commits ? 'COMMIT' : 'BUILD' }, brief: 'Test {item:title}.', judges },
            ...(has(seed, 'two test', 0.3) ? { by: ['reviewer', 'writer'] } : {}),
          },
        ]
      : []),
  ];
}

function elseOf(seed: number, planned: boolean): NonNullable<Stage['judges']>['else'] {
  return planned ? { fix: 'BUILD' } : drawOf([{ fix: 'BUILD' }, { redo: 'BUILD' }] as const, seed, 'else');
}

function stage(id: string, role: string, makes: Stage['makes']): Stage {
  return { id, by: [role], brief: `Do ${id}. {objective}`, makes };
}

const NOTE = {
  type: 'object',
  properties: { note: { type: 'string' } },
  required: ['note'],
  additionalProperties: false,
};
