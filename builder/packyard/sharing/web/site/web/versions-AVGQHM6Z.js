import{a,b,c}from"./chunk-5SD2C4PC.js";import"./chunk-FCXQRJPS.js";import"./chunk-XRLGBRBP.js";export{c as archive,b as removed,a as versions};
