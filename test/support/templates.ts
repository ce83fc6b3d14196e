import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Variable with the folder of what tests copy; absent: each test makes its own. */
export const TEMPLATES = 'SQUAD_TEST_TEMPLATES';

/** Set-up of vitest, once for all projects and workers. Returns what removes the folder at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'squad-test-templates-'));
  process.env[TEMPLATES] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
