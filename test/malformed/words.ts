import { fc } from '@fast-check/vitest';
import { settingsSchema } from '../../src/model/settings.ts';

export const OBJECTIVE_HEAD = '# T\n## Goals\n- g\n## Success Criteria\n';

const objectiveWords = fc.constantFrom(
  ...[
    '---\n',
    '# T\n',
    '# Objective: X\n',
    '## Goals\n',
    '## Success Criteria\n',
    '## Constraints\n',
    '## Context\n',
    '### Goals\n',
  ],
  ...[
    '## Priority\n',
    '## Deadline\n',
    '2026-12-24\n',
    '- ',
    '1. ',
    '  - ',
    '[ ] ',
    '[x] ',
    '[',
    ']',
    '(run: ',
    '(run: `',
    ')',
    '`',
    '"',
  ],
  ...[
    'name: a\n',
    'limits: {',
    'minutes: 3',
    '}',
    'playbook: ',
    '&a ',
    '*a',
    '!t ',
    '__proto__: ',
    '? ',
    '|\n',
    '\t',
    '> ',
    '```\n',
  ],
  ...[
    '<!--',
    '-->',
    '\r\n',
    '\r',
    '\n',
    '\n\n',
    '\0',
    '\ufeff',
    '\u202e',
    'word ',
    'ä',
    '🚀',
    '\\',
    "'",
    '=\n',
    ': ',
    '#',
  ],
);
const objectiveParts = fc.array(
  fc.oneof({ weight: 6, arbitrary: objectiveWords }, fc.string({ unit: 'binary', maxLength: 8 }), fc.string()),
  { maxLength: 40 },
);

/** What could stand in an objective file, in any order: headings, lists, front matter, and what is neither. */
export const objectiveText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('', OBJECTIVE_HEAD, '---\n'), objectiveParts)
  .map(([start, parts]) => start + parts.join(''));

const settingsWords = fc.constantFrom(
  ...Object.keys(settingsSchema.shape).map((key) => `${key}: `),
  ...[
    'name: ',
    'role: ',
    'runtime: ',
    'claude',
    'codex',
    'run: ',
    'minutes: ',
    'fallback: ',
    'env: ',
    'config: ',
    'remote: ',
    'toString: ',
  ],
  ...[
    '\n',
    '\n  ',
    '\n  - ',
    '{ ',
    ' }',
    '[',
    ']',
    ', ',
    '- ',
    '? ',
    ': ',
    '&a ',
    '*a',
    '!t ',
    '!!int ',
    '<<: ',
    '|\n',
    '>-\n',
    '"',
    "'",
    '#',
  ],
  ...[
    '1',
    '-1',
    '1.5',
    '.nan',
    '1e999',
    'null',
    'true',
    '~',
    '2026-12-24',
    '0x1f',
    '__proto__: ',
    '\t',
    '\r\n',
    '\0',
    '\u202e',
    '---\n',
    '%YAML 1.1\n',
  ],
);
const settingsParts = fc.array(
  fc.oneof({ weight: 8, arbitrary: settingsWords }, fc.string({ unit: 'binary', maxLength: 6 }), fc.string()),
  { maxLength: 40 },
);

/** What could stand in `squad.yaml`, in any order. */
export const settingsText: fc.Arbitrary<string> = settingsParts.map((parts) => parts.join(''));
