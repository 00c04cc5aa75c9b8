/** The team's own modules. esbuild binds these names to the paths that the construct is given. */
declare module 'stepwell-messages' {
  export const messages: readonly import('./core/message-type.ts').AnyMessageDefinition[];
}

declare module 'stepwell-sources' {
  export const sources: readonly import('./core/sources.ts').Source[];
}

declare module 'stepwell-providers' {
  export const providers: readonly import('./core/provider.ts').ProviderDefinition[];
}
