import { rmSync } from 'node:fs';

/** Removes a folder that a test made, with all that is in it. */
export const removeFolder = (path: string): void => rmSync(path, { recursive: true, force: true });
