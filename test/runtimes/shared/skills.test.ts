import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readSkills } from '../../../src/runtimes/shared/skills.ts';

const root = mkdtempSync(join(tmpdir(), 'squad-skills-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('what a SKILL.md says', () => {
  it.each<[string, string | undefined, string, string[]]>([
    ['usual', '---\nname: notes\ndescription: Take notes.\n---\nBody', 'Take notes.', ['description', 'name']],
    ['after a mark', '\uFEFF---\r\ndescription: Take notes.\r\n---\r\nBody', 'Take notes.', ['description']],
    ['quoted', '---\n"hooks": {}\ndescription: >\n  Take\n  notes.\n---\n', 'Take notes.\n', ['description', 'hooks']],
    ['no front matter', 'Take notes.', '', ['description']],
    ['no YAML', '---\n\t- [\n---\n', '', ['description']],
    ['no file', undefined, '', ['description']],
  ])('%s', async (name, text, description, keys) => {
    const folder = join(root, name.replaceAll(' ', '-'));
    mkdirSync(folder);
    if (text !== undefined) writeFileSync(join(folder, 'SKILL.md'), text);
    const [skill] = await readSkills([{ name: 'notes', folder }]);
    expect({ ...skill, keys: skill?.keys.toSorted() }).toEqual({ name: 'notes', folder, description, keys });
  });

  it('nothing was asked for', async () => expect(await readSkills(undefined)).toEqual([]));
});
