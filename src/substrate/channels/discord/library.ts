import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { wrongEnvironment } from '../../../model/errors.ts';

const PACKAGE = '@discordjs/ws';

/** Loads the library of Discord's gateway, which only those have who asked for it. */
export async function loadLibrary() {
  try {
    return await import('@discordjs/ws');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const wanted = `${PACKAGE}@${wantedVersion()}`;
    throw wrongEnvironment(
      `a channel of Discord needs ${wanted}, which is not installed beside squad`,
      `Run \`npm install ${wanted}\` where squad is installed, with \`--global\` if squad is.`,
    );
  }
}

export type Library = Awaited<ReturnType<typeof loadLibrary>>;

function wantedVersion(): string {
  const path = findPackageJSON(import.meta.url);
  const text = path === undefined ? '{}' : readFileSync(path, 'utf8');
  const { peerDependencies: peers = {} } = JSON.parse(text) as { peerDependencies?: Record<string, string> };
  return peers[PACKAGE] ?? 'latest';
}
