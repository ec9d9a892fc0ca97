// An address that is not there is answered with 404, as a server of an API does, and not with the page.
export default { appType: "mpa", optimizeDeps: { noDiscovery: true } };
