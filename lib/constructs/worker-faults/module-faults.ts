import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { checkDomainTables } from '../../../lambdas/core/domain-table.ts';
import { createRegistry } from '../../../lambdas/core/manifest.ts';
import { domainTables } from '../workflow-worker-settings.ts';
import type { Collector } from './collect.ts';

/** Message types, providers and sources, and the modules they come from. */
export function checkModules({ props, expect }: Collector): void {
  const { providers = [], providerSettings = {} } = props;
  try {
    createRegistry(props.messages);
  } catch (error) {
    expect(
      false,
      'messages',
      error instanceof Error ? error.message : 'are not usable',
      'Correct the definitions',
    );
  }
  try {
    checkDomainTables(domainTables(props));
  } catch (error) {
    const rule = error instanceof Error ? error.message : 'are not usable';
    expect(false, 'aggregates', rule, 'Correct them');
  }
  const entries = {
    messagesEntry: props.messagesEntry,
    providersEntry: props.providersEntry,
    sourcesEntry: props.sourcesEntry,
    ...Object.fromEntries(
      Object.entries(providerSettings).map(([name, own]) => [`providerSettings.${name}.entry`, own.entry]),
    ),
  };
  for (const [prop, path] of Object.entries(entries)) {
    const holds = path === undefined || (isAbsolute(path) && existsSync(path));
    expect(
      holds,
      prop,
      `must be the absolute path of a module, is ${path}`,
      'Derive it from the module’s own location',
    );
  }
  expect(
    providers.length === 0 || props.providersEntry !== undefined,
    'providersEntry',
    'is required with providers, because their code is bundled from there',
    'Name the module that exports them',
  );
  const names = providers.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  expect(
    twice.length === 0,
    'providers',
    `must have names of their own, ${twice.join(', ')} is there twice`,
    'Rename one',
  );
  const unknown = Object.keys(providerSettings).filter((name) => !names.includes(name));
  expect(
    unknown.length === 0,
    'providerSettings',
    `must name providers, ${unknown.join(', ')} is none`,
    'Correct the name, or add the provider',
  );
  expect(
    props.sourcesEnvironment === undefined || props.sourcesEntry !== undefined,
    'sourcesEnvironment',
    'is for sources, of which there are none',
    'Pass sourcesEntry, or leave it out',
  );
}
