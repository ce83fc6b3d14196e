import { checkList } from '../../../src/playbooks/stages/check-list.ts';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { plainJson } from '../../../src/text/json.ts';
import { draw, drawOf } from '../world/draw.ts';

export const LIST_ROLES = ['writer', 'builder', 'reviewer'] as const;

/** A list as a person might write one: documents, answers, a plan, code, commands and a judge, in the order that this seed wants. */
export function generatedList(seed: number, commands: readonly string[]): StageList {
  const has = (name: string, share = 0.5): boolean => draw(seed, 'list', name) < share;
  const skips = (name: string): Pick<Stage, 'onFail'> => (has(`skip ${name}`, 0.4) ? { onFail: 'skip' } : {});
  const review = (id: string): Pick<Stage, 'review'> =>
    has(`review ${id}`) ? { review: { id: `${id}_REVIEW`, by: ['reviewer'], rounds: 3 } } : {};
  const planned = has('plan');
  const stages: Stage[] = [
    ...(has('notes')
      ? [{ ...stage('NOTES', 'writer', { document: 'notes.md', headings: ['Goals', 'Limits'] }), ...skips('NOTES') }]
      : []),
    ...(has('look', 0.3) ? [{ ...stage('LOOK', 'writer', { answer: NOTE }), ...skips('LOOK') }] : []),
    ...(planned ? [stage('PLAN', 'writer', { answer: 'tasks' })] : []),
    {
      ...stage('BUILD', 'builder', { code: true }),
      ...(planned ? { each: { of: 'PLAN' } } : {}),
      ...review('BUILD'),
    },
    ...(has('check', 0.4)
      ? [
          {
            ...stage('CHECK', 'builder', { checks: has('own checks') ? [...commands] : 'criteria' }),
            ...skips('CHECK'),
          },
        ]
      : []),
    ...(has('report')
      ? [{ ...stage('REPORT', 'writer', { document: 'report.md', headings: ['Failures'] }), ...review('REPORT') }]
      : []),
    ...(has('judge')
      ? [{ ...stage('JUDGE', 'reviewer', { answer: 'verdict' }), judges: { rounds: 3, else: elseOf(seed, planned) } }]
      : []),
    ...(has('close', 0.3) ? [{ ...stage('CLOSE', 'writer', { document: 'close.md' }), ...skips('CLOSE') }] : []),
  ];
  const list: StageList = { stages };
  const problems = checkList(plainJson(list), LIST_ROLES);
  if (problems.length > 0) throw new Error(`the oracle made a wrong list: ${JSON.stringify(problems)}`);
  return list;
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
