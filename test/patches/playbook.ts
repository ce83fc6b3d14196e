import type { Patch } from './patch.ts';

/** A playbook that is a list of one stage: a row of the registry, and its name, which the help has without loading a playbook. */
export const PLAYBOOK: Patch = {
  adds: 'a playbook as a list of stages',
  files: 2,
  edits: {
    'src/model/playbook-name.ts': [["'delivery', 'solo', 'best-of', 'objective', 'council'] as const", "'tidy', "]],
    'src/playbooks/registry.ts': [
      [
        '  council: createCouncilPlaybook,\n',
        `  tidy: () =>
    createStagesPlaybook({
      name: 'tidy',
      list: { stages: [{ id: 'LOOK', by: ['builder'], brief: 'Look around.', makes: { answer: { type: 'object' } } }] },
    }),
`,
      ],
    ],
  },
  runs: { playbook: 'tidy' },
  shown: [
    [['run', 'go', '--yes'], /DONE/],
    [['run', '--help'], /one of tidy, delivery, solo, best-of/],
    [['status', '--json'], /"playbook":"tidy"[^]*"stages":\[\{[^}]*LOOK/],
    [['report'], /playbook `tidy`[^]*LOOK/],
  ],
};
