import { ConfigurationError } from '../core/errors.ts';

/** Whether a connection to this host stays on the machine. */
const LOOPBACK = /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/;

/**
 * Reads a provider's base URL: https, or http on loopback, without credentials, query and fragment.
 *
 * @throws ConfigurationError naming the variable, without its value
 */
export function endpointOf(env: Readonly<Record<string, string | undefined>>, variable: string): URL {
  const text = env[variable];
  if (text === undefined || text === '') {
    throw new ConfigurationError(`The environment variable ${variable} is not set; give the provider's URL`);
  }
  if (!URL.canParse(text)) throw new ConfigurationError(`${variable} is not a URL`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
    throw new ConfigurationError(`${variable} must be https: (http: is for loopback addresses only)`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError(`${variable} holds credentials; they belong into the provider's secret`);
  }
  if (url.search !== '' || url.hash !== '') {
    throw new ConfigurationError(`${variable} must end with its path, without query and fragment`);
  }
  return url;
}

/**
 * The URL of a path below a base. A path made from a request's content can't leave it.
 *
 * @returns undefined when it would
 */
export function urlBelow(base: URL, path: string): URL | undefined {
  const root = base.pathname.replace(/\/+$/, '');
  if (!path.startsWith('/') || !URL.canParse(`${base.origin}${root}${path}`)) return undefined;
  const url = new URL(`${base.origin}${root}${path}`);
  return url.origin === base.origin && url.pathname.startsWith(`${root}/`) ? url : undefined;
}
