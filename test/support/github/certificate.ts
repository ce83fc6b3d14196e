import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './find-gh.ts';

/** A certificate for these names, which is its own authority. `path`: for SSL_CERT_FILE. */
export function makeCertificate(folder: string, names: readonly string[]): { path: string; key: string; cert: string } {
  const [path, key] = [join(folder, 'authority.pem'), join(folder, 'key.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const alternatives = names.map((name) => `DNS:${name}`).join(',');
  const said = ['-subj', `/CN=${names[0]}`, '-addext', `subjectAltName=${alternatives}`];
  const about = [...said, '-addext', 'basicConstraints=critical,CA:TRUE', '-keyout', key, '-out', path];
  execFileSync(findProgram('openssl') ?? 'openssl', ['req', '-x509', ...kind, ...about], { stdio: 'ignore' });
  return { path, key: readFileSync(key, 'utf8'), cert: readFileSync(path, 'utf8') };
}
