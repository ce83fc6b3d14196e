import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { wrongEnvironment } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';

/** Loads packages that only those have who asked for them. `purpose`: for people, such as “a channel of Discord”. */
export async function loadPeer<T>(packages: readonly string[], purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    const wanted = packages.map((name) => `${name}@${wantedVersion(name)}`).join(' ');
    throw wrongEnvironment(
      `${purpose} needs ${wanted}, which is not installed beside squad`,
      `Run \`npm install ${wanted}\` where squad is installed, with \`--global\` if squad is.`,
    );
  }
}

function wantedVersion(name: string): string {
  const path = findPackageJSON(import.meta.url);
  const text = path === undefined ? '{}' : readFileSync(path, 'utf8');
  const { peerDependencies: peers = {} } = JSON.parse(text) as { peerDependencies?: Record<string, string> };
  return peers[name] ?? 'latest';
}
