import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlain } from '../../substrate/system/files/read-plain.ts';
import { NO_FINGERPRINTS, type Fingerprints } from '../../model/redaction/fingerprints.ts';
import { fingerprintsSchema } from '../../model/redaction/fingerprints-schema.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { storageError } from '../../model/storage-error.ts';
import { parseJson } from '../../text/json.ts';

/** Beside the output of a turn, for as long as that is kept. */
const FILE = 'secrets.json';

/** Writes down what must not be shown of this turn. Its readers may be in a shell that does not have the variables of this one. */
export async function keepTurnSecrets(directory: string, redactor: Redactor): Promise<void> {
  const path = join(directory, FILE);
  try {
    await writeFile(path, JSON.stringify(redactor.fingerprints()), { mode: 0o600 });
  } catch (error) {
    throw storageError(path, error);
  }
}

/** Every reader of this turn's folder removes these besides its own secrets. None if the file cannot be read. */
export async function readTurnSecrets(directory: string): Promise<Fingerprints> {
  const text = await readPlain(join(directory, FILE)).catch(() => '');
  return fingerprintsSchema.safeParse(parseJson(text)).data ?? NO_FINGERPRINTS;
}
