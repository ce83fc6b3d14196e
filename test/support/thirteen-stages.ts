import { documentPath, documentText } from './objective-documents.ts';
import { commit, leave, objective, settings, type Scenario } from './scenario-parts.ts';

/** From its title. */
const RUN = 'thirteen-stages';
const TEAM = ['pm', 'ba', 'writer', 'builder', 'reviewer'].map((role) => ({ name: role, role }));
const WRITTEN = ['setup', 'business-problem', 'spec', 'research', 'test-strategy', 'plan', 'test'];
const BUILT = ['left', 'right'];

/** The whole way of `objective`. One builder, and one part after the other, so that every run is the same. */
export const THIRTEEN_STAGES: Scenario = {
  name: 'thirteen stages',
  objective: objective('Thirteen stages', 'cat left.txt right.txt'),
  settings: (script, effects) => `playbook: objective\n${settings(TEAM, script, effects)}`,
  script: (effects) => {
    const turn = (task: string, files: Readonly<Record<string, string>>, structured?: object): object => ({
      when: `# Task ${task}:`,
      steps: [
        leave(task, effects),
        ...Object.entries(files).map(([path, text]) => ({ write: { path, text } })),
        ...(Object.keys(files).length === 0 ? [] : commit(`Write ${task}`)),
        { answer: `${task} is done` },
      ],
      ...(structured === undefined ? {} : { structured }),
    });
    const document = (task: string) => ({ [documentPath(RUN, task) ?? '']: documentText(task) });
    const approved = { approved: true, summary: 'all there', findings: [] };
    return {
      turns: [
        ...WRITTEN.map((task) => turn(task, document(task), task === 'plan' ? PLAN : undefined)),
        turn('spec-writer', {}),
        ...BUILT.map((task) => turn(task, { [`${task}.txt`]: `${task}\n` })),
        turn('post-review', {}, { ...approved, criteria: [] }),
        turn('post-review-reviewer', {}, { ...approved, criteria: [] }),
        turn('complete', {}, { summary: 'Two files.', tryIt: ['cat left.txt'], left: [], followUps: [] }),
        { when: '# Review of task', steps: [leave('review', effects), { answer: 'yes' }], structured: approved },
      ],
    };
  },
};

const PLAN = {
  tasks: BUILT.map((id, index) => ({
    ...{ id, title: `Build ${id}`, brief: `Write ${id}.txt.`, needs: BUILT.slice(0, index) },
    paths: [`${id}.txt`],
    acceptance: [`${id}.txt is there`],
  })),
};

/** What ends each stage: the task of it that gets so far last. */
export const STAGE_ENDS = [
  { stage: 'SETUP', task: 'setup', at: 'ended' },
  { stage: 'BUSINESS_PROBLEM', task: 'business-problem', at: 'ended' },
  { stage: 'SPEC', task: 'spec', at: 'judged' },
  { stage: 'SPEC_REVIEW', task: 'spec', at: 'ended' },
  { stage: 'RESEARCH', task: 'research', at: 'ended' },
  { stage: 'TEST_STRATEGY', task: 'test-strategy', at: 'ended' },
  { stage: 'PLAN', task: 'plan', at: 'judged' },
  { stage: 'PLAN_REVIEW', task: 'plan', at: 'ended' },
  { stage: 'IMPLEMENTATION', task: 'right', at: 'judged' },
  { stage: 'IMPLEMENTATION_REVIEW', task: 'right', at: 'ended' },
  { stage: 'TEST', task: 'test', at: 'ended' },
  { stage: 'POST_REVIEW', task: 'post-review', at: 'ended' },
  { stage: 'COMPLETE', task: 'complete', at: 'ended' },
] as const;
