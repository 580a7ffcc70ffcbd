import{a,b}from"./chunk-32U6FQ3K.js";import"./chunk-FCXQRJPS.js";import"./chunk-XRLGBRBP.js";export{b as archive,a as versions};
