import{a,b}from"./chunk-7UIQSBGG.js";import"./chunk-FCXQRJPS.js";import"./chunk-5BDSLKK6.js";export{b as archive,a as versions};
