import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { protocolFiles } from '../../../scripts/protocol-docs.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const files = protocolFiles(ROOT);

describe('the documentation of the protocol', () => {
  it.each([...files])('%s is as the schemas have it (npm run protocol)', (path, text) => {
    expect(readFileSync(join(ROOT, path), 'utf8')).toBe(text);
  });

  it('has no schema of what there is no more', () => {
    const written = readdirSync(join(ROOT, 'docs/schemas')).map((name) => `docs/schemas/${name}`);
    expect(written.filter((path) => !files.has(path))).toEqual([]);
  });
});
