/**
 * Who a caller is, once verified.
 *
 * @module
 */
export {};
//# sourceMappingURL=principal.js.map
