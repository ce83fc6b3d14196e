import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/model/limits.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import type { SprintOptions } from '../../../src/model/sprint/options.ts';
import { sprintList } from '../../../src/playbooks/sprint/list.ts';
import { createView } from '../../../src/rules/view.ts';
import { entry, sprintOptions } from '../../support/sprint-script.ts';
import { playSprint, recordsIn, SPRINT_TEAM } from './support.ts';

/** The brief of each stage, as the list has it before it fills in what other stages said. */
function briefs(more: Partial<SprintOptions> = {}): ReadonlyMap<string, string> {
  const roles = [...new Set(SPRINT_TEAM.map(({ role }) => role))];
  const { stages } = sprintList(sprintOptions(more), { roles, run: 'try', limits: limitsSchema.parse({}) });
  return new Map(stages.map(({ id, brief }) => [id, brief]));
}

describe('the brief of a stage', () => {
  const kickoff = {
    ...sprintOptions().kickoff,
    ...{ milestone: 'Logins', text: 'Only with {passkeys}.' },
    attachments: [{ id: 'a1', name: 'sketch.png', bytes: 10, sha256: 'a'.repeat(64) }],
  };
  const all = briefs({ kickoff, backlog: [entry('b-known', { title: 'A known item' })] });

  it.each(['RESEARCH', 'MILESTONE', 'BACKLOG'])('%s has the kickoff in its own words, and its attachments', (id) => {
    expect(all.get(id)).toContain('Milestone: Logins');
    expect(all.get(id)).toContain('Only with {{passkeys}.');
    expect(all.get(id)).toContain(`sketch.png (10 bytes): /state/attachments/${'a'.repeat(64)}`);
  });

  it('has the files of what people asked for: with its item for the planner, and for those who build', () => {
    const attachments = [{ id: 'a2', name: 'form.pdf', bytes: 7, sha256: 'b'.repeat(64) }];
    const asked = { ...entry('b-form', { title: 'A {form}' }), attachments };
    const said = briefs({ backlog: [asked, entry('b-none')] });
    const line = `- form.pdf (7 bytes): /state/attachments/${'b'.repeat(64)}/form.pdf`;
    expect(said.get('BACKLOG')).toContain(`A {{form}\n  - done means: b-form works\n  ${line}\n- b-none`);
    expect(said.get('BUILD')).toContain(`Attachments of “A {{form}”:\n${line}`);
    expect(said.get('PRIORITIES')).not.toContain('form.pdf');
  });

  it.each([
    ['MILESTONE', '{of:RESEARCH}'],
    ['ARTIFACT_SYNC', '{of:RESEARCH}'],
    ['BACKLOG', '{documents}'],
    ['GUIDE', '{of:PLAN_TODO}'],
    ['BUILD', '{of:PLAN_TODO}'],
    ['BUILD', '{of:GUIDE}'],
    ['REPORT', '{of:PLAN_TODO}'],
  ])('%s has what was found and said before: %s', (id, place) => {
    expect(all.get(id)).toContain(place);
  });

  it('BACKLOG has the items that there are, each with its version', () => {
    expect(all.get('BACKLOG')).toContain('- b-known (version 1, pending, priority 50, feature): A known item');
  });

  it('says who was chosen for it, with strength, skills, behavior, and why the scored order was left', () => {
    const about = (more: object) => ({
      ...{ strengths: [], suggested_skills: [], expected_behavior: '', should_not_handle: [], ...more },
    });
    const policy: SprintOptions['policy'] = {
      roles: {
        research: about({ strengths: ['logins'], suggested_skills: ['web'], expected_behavior: 'cite what you read' }),
        planner: about({ strengths: ['logins', 'people'] }),
      },
    };
    const said = briefs({ policy }).get('RESEARCH');
    for (const part of ['research_initial', 'logins', 'web', 'cite what you read', 'the scores name planner']) {
      expect(said).toContain(part);
    }
  });
});

it('the items of a sprint are selected by its last step of planning, and by none before', () => {
  const played = playSprint();
  const seen = played.steps.map(({ board }) => {
    const states = recordsIn(played.playbook, board).filter(({ kind }) => kind === KINDS.itemState);
    const isChosen = createView(board).task('todos')?.status === 'done';
    return { isChosen, states: states.map(({ id, value }) => `${id} ${(value as { state: string }).state}`) };
  });
  expect(seen.filter(({ isChosen }) => !isChosen).flatMap(({ states }) => states)).toEqual([]);
  const first = seen.find(({ states }) => states.length > 0);
  expect(first).toEqual({ isChosen: true, states: ['b-one selected', 'b-two selected'] });
});
