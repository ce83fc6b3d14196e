import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { isSlug } from '../../../src/model/slug.ts';
import { safeSlugs } from '../../../src/playbooks/session/session-of.ts';
import type { Session } from '../../../src/playbooks/session/session.ts';

const slugs = (...ids: readonly Session['tasks'][number]['id'][]) => safeSlugs(ids);

describe('safe names of tasks and roles', () => {
  it.each([
    { ids: ['IMPL-001', 'IMPL-002'], are: ['impl-001', 'impl-002'] },
    { ids: ['impl-001', 'IMPL-001'], are: ['impl-001', 'impl-001-2'] },
    { ids: ['IMPL-001', 'impl-001'], are: ['impl-001-2', 'impl-001'] },
    { ids: ['Prüfung', 'Pru\u0308fung', 'prufung'], are: ['prufung-2', 'prufung-3', 'prufung'] },
    { ids: ['1', '1.', '任务', '', '../../x'], are: ['t-1', 't-1-2', 't', 't-2', 'x'] },
    { ids: ['CON', 'aux', 'nul.md'], are: ['t-con', 't-aux', 'nul-md'] },
    { ids: ['a', 'a', 'a'], are: ['a', 'a-2', 'a-3'] },
    { ids: ['A', 'A', 'a-2'], are: ['a', 'a-3', 'a-2'] },
    {
      ids: [`${'long-'.repeat(99)}1`, `${'long-'.repeat(99)}2`],
      are: ['long-long-long-long-long-long-lo', 'long-long-long-long-long-long-2'],
    },
  ])('$ids are $are', ({ ids, are }) => {
    expect(slugs(...ids)).toEqual(are);
  });

  test.prop([fc.array(fc.string({ unit: 'binary', maxLength: 80 }), { maxLength: 60 })])(
    'are safe, each its own, and say nothing else twice',
    (ids) => {
      const all = slugs(...ids);
      expect(all.filter((slug) => !isSlug(slug))).toEqual([]);
      expect(new Set(all).size).toBe(ids.length);
      expect(slugs(...ids)).toEqual(all);
    },
  );
});
